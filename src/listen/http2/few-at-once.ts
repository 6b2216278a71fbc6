import type { ServerHttp2Stream } from 'node:http2'

/** Takes a stream that has just opened, and what came with it. */
type Begin<Rest extends unknown[]> = (stream: ServerHttp2Stream, ...rest: Rest) => void

/** More let fewer gRPC calls through (docs/performance.md, "gRPC"). Fewer cost a write to the socket for each few. */
const AT_ONCE = 8

/**
 * Begins the streams of one connection a few in each turn of the event loop. One packet can open hundreds, and Node writes at the end of a
 * turn. So the service works on the first while the others are read, and no packet keeps other connections waiting for long.
 */
export function fewAtOnce<Rest extends unknown[]>(begin: Begin<Rest>): Begin<Rest> {
  const waiting: [ServerHttp2Stream, ...Rest][] = []
  let begun = 0
  const start: Begin<Rest> = (...opened) => {
    if (begun === 0) setImmediate(next)
    begun += 1
    begin(...opened)
  }
  const next = () => {
    begun = 0
    for (const opened of waiting.splice(0, AT_ONCE)) start(...opened)
  }
  return (...opened) => {
    if (begun < AT_ONCE) return start(...opened)
    // It may fail before it begins, and an error without a listener ends the process.
    opened[0].on('error', () => {})
    waiting.push(opened)
  }
}
