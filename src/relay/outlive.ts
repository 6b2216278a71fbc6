import type { Http2Session } from 'node:http2'

/** Milliseconds; the streams of a connection are freed one turn of the event loop after it. */
const LONGER = 2000

/**
 * Keeps what Node holds of an HTTP/2 connection a while longer than the connection. It frees a stream whose head was malformed a turn after its
 * connection; when the collector is faster, an assertion of Node ends the process (nodejs/node#39951). Nothing public keeps that object.
 * Call it when the connection stands.
 */
export function outlive(session: Http2Session): void {
  const handle = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle')
  const kept = handle && (session as unknown as Record<symbol, unknown>)[handle]
  session.once('close', () => setTimeout(() => void kept, LONGER).unref())
}
