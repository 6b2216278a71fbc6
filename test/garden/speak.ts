import net from 'node:net'
import { readAnswers, type WireAnswer } from '../faults/wire.ts'

/** Milliseconds to wait for an answer that must come; after that it is missing. */
const PATIENCE = 6_000
/** Milliseconds of silence that end an exchange in which no more answers must come. */
const QUIET = 80

export interface Speech {
  readonly port: number
  /** Each part but the first is sent at the first byte after the one before, or after a silence. */
  readonly parts: readonly string[]
  /** The answers (from 0) to HEAD requests, which have no body. */
  readonly heads: readonly number[]
  /** Number of answers that must come. */
  readonly owed: number
}

export interface Spoken {
  /** Final answers, and the one that opens a tunnel. */
  readonly answers: readonly WireAnswer[]
  readonly closed: boolean
}

/** Sends bytes on a connection of its own and reads until the other side closes it or is silent. */
export function speak({ port, parts, heads, owed }: Speech): Promise<Spoken> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    const unsent = [...parts]
    let received = ''
    let timer: NodeJS.Timeout | undefined
    const answers = (closed: boolean) => finalOnes(readAnswers(received, closed, heads))
    const done = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ answers: answers(closed), closed })
    }
    const silent = () => {
      if (unsent.length > 0) return sayNext()
      done(false)
    }
    const listen = () => {
      clearTimeout(timer)
      const isOwed = unsent.length === 0 && !isEnough(answers(false), owed)
      timer = setTimeout(silent, isOwed ? PATIENCE : QUIET)
    }
    const sayNext = () => {
      const part = unsent.shift()
      if (part !== undefined) socket.write(part, 'latin1')
      listen()
    }
    socket.setEncoding('latin1').setNoDelay(true)
    socket.once('connect', sayNext)
    socket.on('data', (piece: string) => {
      received += piece
      if (unsent.length > 0) sayNext()
      else listen()
    })
    socket.on('error', () => {})
    socket.on('close', () => done(true))
  })
}

/** After a tunnel is opened, no more answers must come. */
function isEnough(answers: readonly WireAnswer[], owed: number): boolean {
  return answers.filter(({ broken }) => !broken).length >= owed || answers.some(({ status }) => status === 101)
}

/** No bytes in a tunnel are an answer. The last answer may be incomplete. */
function finalOnes(all: readonly WireAnswer[]): readonly WireAnswer[] {
  const tunnel = all.findIndex(({ status }) => status === 101)
  return (tunnel < 0 ? all : all.slice(0, tunnel + 1)).filter(({ status }) => status >= 200 || status === 101 || status === 0)
}
