import type { Http2Session, Http2Stream } from 'node:http2'
import { cut } from './cut.ts'
import { whenClosed } from './on-close.ts'

/** Milliseconds. */
export interface ProbeTimes {
  /** From the start of a stream to its first PING. */
  readonly first: number
  /** From an answered PING to the next, while streams are open; Infinity for none. */
  readonly again: number
  /** Until the PING must be answered. */
  readonly answer: number
}

/**
 * Ends an HTTP/2 connection whose peer answers no PING while streams wait on it.
 * After a connection error, Node with nghttp2 before 1.69 neither reads nor ends the connection, and reports nothing.
 * Present and later streams would wait for ever. Returns the function that takes each stream.
 */
export function probe(session: Http2Session, { first, again, answer }: ProbeTimes): (stream: Http2Stream) => void {
  let open = 0
  let due = Number.POSITIVE_INFINITY
  let next: NodeJS.Timeout | undefined
  let late: NodeJS.Timeout | undefined

  const askIn = (ms: number) => {
    const at = performance.now() + ms
    if (at >= due) return
    clearTimeout(next)
    due = at
    next = setTimeout(ask, ms).unref()
  }
  const ask = () => {
    due = Number.POSITIVE_INFINITY
    if (open === 0 || late !== undefined || session.destroyed) return
    late = setTimeout(() => cut(session), answer).unref()
    session.ping(answered)
  }
  const ended = () => {
    open -= 1
  }
  const answered = () => {
    clearTimeout(late)
    late = undefined
    if (open > 0) askIn(again)
  }
  session.once('close', () => {
    clearTimeout(next)
    clearTimeout(late)
  })
  return (stream) => {
    open += 1
    whenClosed(stream, { over: ended, next: undefined })
    askIn(first)
  }
}
