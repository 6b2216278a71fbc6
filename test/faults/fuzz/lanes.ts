import type { Socket } from 'node:net'
import { dial, readAnswers, type WireAnswer } from '../wire.ts'
import type { WireRequest } from './requests.ts'

/** A connection that stays open while the server keeps it. */
export interface Lane {
  /** Returns the final answer; undefined if the server closed the connection without one. Extra bytes count as the next answer. */
  ask(request: WireRequest): Promise<WireAnswer | undefined>
  close(): void
}

export function openLane(url: string): Lane {
  let socket: Socket | undefined
  let received = ''
  let look = (_closed: boolean) => {}

  const connect = (): Socket => {
    const fresh = dial(url)
    received = ''
    fresh.setEncoding('latin1')
    fresh.on('data', (chunk: string) => {
      if (socket !== fresh) return
      received += chunk
      look(false)
    })
    fresh.on('error', () => {})
    fresh.on('close', () => {
      if (socket !== fresh) return
      socket = undefined
      look(true)
    })
    return fresh
  }
  return {
    ask({ text, isHead }) {
      return new Promise((resolve) => {
        look = (closed) => {
          const answers = readAnswers(received, closed, isHead ? [0] : [])
          const final = answers.findIndex(({ status, broken }) => status >= 200 && !broken)
          const answer = answers[final]
          if (!answer && !closed) return
          look = () => {}
          received = received.slice(answers.slice(0, final + 1).reduce((sum, { length }) => sum + length, 0))
          // A connection that the server will close soon must not get the next request.
          if (answer?.headers.get('connection') === 'close') {
            socket?.destroy()
            socket = undefined
          }
          resolve(answer)
        }
        socket ??= connect()
        socket.write(text, 'latin1')
      })
    },
    close: () => socket?.destroy(),
  }
}
