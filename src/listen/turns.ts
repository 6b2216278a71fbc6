import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { whenClosed } from '../relay/on-close.ts'

/** The property in which a connection keeps its last answers. A WeakMap of all connections would burden the collector. */
const LAST = Symbol('last answer')
const BEFORE = Symbol('the answer before the last, when that was not over')
const WAITING = Symbol('requests that wait')

type Connection = Socket & { [LAST]?: ServerResponse; [BEFORE]?: ServerResponse | undefined; [WAITING]?: number }

/**
 * Serves the requests of one HTTP/1.1 connection one after the other. A client may send many before it reads an answer (pipelining).
 * Node would begin all of them at once, and one connection could take every place.
 * A connection with more than `most` waiting requests is ended: no well-meaning client has so many.
 */
export function inTurn(handler: RequestListener, most: number): RequestListener {
  return (request, response) => {
    const connection: Connection = request.socket
    if (!connection.writable) return
    const last = connection[LAST]
    noteAnswer(connection, response)
    if (!last || last.closed) handler(request, response)
    else if (countWaiting(connection) <= most) beginAfter(last, handler, request, response)
    else connection.destroy()
  }
}

/** Returns the number of waiting requests, the new one included. */
function countWaiting(connection: Connection): number {
  const waiting = (connection[WAITING] ?? 0) + 1
  connection[WAITING] = waiting
  return waiting
}

/** A separate function: a closure over a request costs memory, and requests hardly ever wait. */
function beginAfter(last: ServerResponse, handler: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  const connection: Connection = request.socket
  const over = () => {
    connection[WAITING] = (connection[WAITING] ?? 1) - 1
    if (connection.writable) handler(request, response)
  }
  whenClosed(last, { over, next: undefined })
}

/** Registers an answer that something other than `inTurn` began. */
export function noteAnswer(socket: Socket, response: ServerResponse): void {
  const connection: Connection = socket
  const last = connection[LAST]
  connection[BEFORE] = last?.closed ? undefined : last
  connection[LAST] = response
}

/**
 * Calls `then` when every complete request of this connection is answered; never if the connection is gone by then.
 * Bytes written before Node's answers would be read as one of them.
 */
export function whenAnswered(socket: Socket, then: () => void): void {
  const { [LAST]: last, [BEFORE]: before }: Connection = socket
  const whole = last?.req.complete ? last : before
  const over = () => {
    if (!socket.destroyed) then()
  }
  if (whole && !whole.closed) whenClosed(whole, { over, next: undefined })
  else over()
}
