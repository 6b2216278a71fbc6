import net from 'node:net'
import { readAnswers, type WireAnswer } from '../faults/wire.ts'

/** Milliseconds for an answer that must come; afterwards it counts as none. */
const PATIENCE = 3_000
/** Milliseconds of silence after which nobody says more, where nothing is owed. */
const QUIET = 80

export interface Speech {
  readonly port: number
  /** Each but the first is sent at the first byte after the one before, or in the silence. */
  readonly parts: readonly string[]
  /** The answers (from 0) that belong to a HEAD and have no body. */
  readonly heads: readonly number[]
  /** Answers that must come. */
  readonly owed: number
}

export interface Spoken {
  /** Final ones, and the one that opens a tunnel. */
  readonly answers: readonly WireAnswer[]
  readonly closed: boolean
}

/** Says bytes on a connection of its own and listens until the other side closes it or is silent. */
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

/** Behind a tunnel nothing is owed. */
function isEnough(answers: readonly WireAnswer[], owed: number): boolean {
  return answers.filter(({ broken }) => !broken).length >= owed || answers.some(({ status }) => status === 101)
}

/** Nothing behind a tunnel's beginning is an answer; the last one may be there in part. */
function finalOnes(all: readonly WireAnswer[]): readonly WireAnswer[] {
  const tunnel = all.findIndex(({ status }) => status === 101)
  return (tunnel < 0 ? all : all.slice(0, tunnel + 1)).filter(({ status }) => status >= 200 || status === 101 || status === 0)
}
