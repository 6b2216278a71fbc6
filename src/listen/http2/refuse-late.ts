import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'

/**
 * Makes `session.close()` refuse later streams safely: those that its GOAWAY does not cover, so that their clients may repeat them. Node
 * calls it too, for the GOAWAY of a client. Returns a function that refuses a stream if it is such a late one, and tells whether it did.
 *
 * Node would refuse such a stream while nghttp2 still reads it. On Node 20 and 22, that sends the GOAWAY, which frees the stream, and
 * nghttp2 goes on to use it. A few connections with a GOAWAY before their requests ended the process on Node 20.
 */
export function refuseLate(session: ServerHttp2Session): (stream: ServerHttp2Stream) => boolean {
  let last = Number.POSITIVE_INFINITY
  const close = session.close.bind(session)
  session.close = (closed) => {
    if (closed) session.once('close', closed)
    if (last !== Number.POSITIVE_INFINITY || session.destroyed) return
    last = session.state.lastProcStreamID ?? 0
    session.goaway(constants.NGHTTP2_NO_ERROR, last)
    // Node sends what is to be sent before it calls this, so that nghttp2 ignores later streams from then on.
    setImmediate(close)
  }
  return (stream) => {
    if ((stream.id ?? 0) <= last) return false
    stream.on('error', () => {})
    setImmediate(() => stream.close(constants.NGHTTP2_REFUSED_STREAM))
    return true
  }
}
