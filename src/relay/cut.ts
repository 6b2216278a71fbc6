import { constants, type Http2Session, type Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'

/** Milliseconds. A connection that does not even take a reset in this time takes nothing. A slow one first takes what is under way. */
const TAKES_NOTHING = 5000

/**
 * Ends a connection of HTTP/2 at once, and its socket in the same turn. Node alone frees the memory of the streams while the socket still
 * sends from it. What the client reads would be whatever that memory holds then: answers to others.
 */
export function cut(session: Http2Session): void {
  if (session.destroyed) return
  const socket = socketOf(session)
  const end = () => void socket.destroy()
  session.destroy()
  // `destroyLater` has it destroyed in a later turn.
  if (session.destroyed) end()
  else setImmediate(end)
}

/** Returns the socket itself. `session.socket` forbids to destroy it, but passes other methods on to it, and `off` returns what it is called on. */
function socketOf({ socket }: Http2Session): Socket {
  return socket.off('close', nothing)
}

const nothing = () => {}

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
