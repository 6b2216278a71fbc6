import type { Http2Session, Http2Stream } from 'node:http2'

/** Milliseconds. */
export interface ProbeTimes {
  /** From the begin of a stream to the PING that asks after it. */
  readonly first: number
  /** From an answered PING to the next, while streams are open; Infinity for none. */
  readonly again: number
  /** Until the PING must be answered. */
  readonly answer: number
}

/**
 * Ends an HTTP/2 connection whose other side answers no PING while streams wait on it. After an error of the connection Node with nghttp2
 * before 1.69 neither reads nor ends it, and tells nobody: what waits would wait for ever, and so would every later stream. Gives the
 * function that is told of each stream.
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
    late = setTimeout(() => session.destroy(), answer).unref()
    session.ping(answered)
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
    stream.once('close', () => {
      open -= 1
    })
    askIn(first)
  }
}
