import type { Http2Session } from 'node:http2'

/**
 * Makes `destroy` wait until Node has read the bytes that have arrived. Node itself calls it while it reads, for a frame that is wrong for its
 * stream. nghttp2 then reads on as if nothing had happened, and an assertion of it ends the process at a frame that is wrong for the connection
 * (`iframe->state == NGHTTP2_IB_IGN_ALL`). A few frames of a stranger are enough.
 */
export function destroyLater(session: Http2Session): void {
  const destroy = session.destroy.bind(session)
  session.destroy = (...reason) => void setImmediate(() => destroy(...reason))
}
