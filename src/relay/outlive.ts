import type { Http2Session } from 'node:http2'

/** Milliseconds; the streams of a connection are freed one turn of the event loop after it. */
const LONGER = 2000

/**
 * Keeps Node's objects of an HTTP/2 connection longer than the connection. Node frees a stream with a malformed head a turn after its
 * connection. If the collector is faster, an assertion of Node ends the process (nodejs/node#39951). No public object retains them. Call
 * this when the connection is open.
 */
export function outlive(session: Http2Session): void {
  const handle = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle')
  const kept = handle && (session as unknown as Record<symbol, unknown>)[handle]
  session.once('close', () => setTimeout(() => void kept, LONGER).unref())
}
