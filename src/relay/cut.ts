import { constants, type Http2Session, type Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'

/** Milliseconds. A connection that does not even take a reset in this time takes nothing. A slow one first takes what is under way. */
const TAKES_NOTHING = 5000

const sockets = new WeakMap<Http2Session, Socket>()

/** Remembers the socket of a connection of HTTP/2, which Node shows to nobody later. */
export function rememberSocket(session: Http2Session, socket: Socket): void {
  sockets.set(session, socket)
}

/**
 * Ends a connection of HTTP/2 at once, with its socket. Node alone would wait until the socket has taken what is being sent, and would
 * free the memory of its streams meanwhile. What the client reads later would be whatever that memory holds then: answers to others.
 */
export function cut(session: Http2Session): void {
  session.destroy()
  // The session itself is destroyed in a later turn (`destroyLater`).
  setImmediate(() => sockets.get(session)?.destroy())
}

/**
 * Breaks a stream off. Node's `destroy` frees its memory although parts of it may be on their way to the socket. A reset waits until those
 * have gone. If it cannot be sent either, the client takes nothing of the whole connection, and that ends.
 */
export function breakOff(stream: Http2Stream): void {
  const { session } = stream
  if (stream.destroyed || session === undefined) return
  const late = setTimeout(() => cut(session), TAKES_NOTHING).unref()
  stream.once('close', () => clearTimeout(late))
  stream.close(constants.NGHTTP2_INTERNAL_ERROR)
}
