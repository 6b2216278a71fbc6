import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { whenClosed } from './on-close.ts'

/** Where a connection keeps its last answers; a WeakMap of every connection would be a burden to the collector. */
const LAST = Symbol('last answer')
const BEFORE = Symbol('the answer before the last, when that was not over')
const WAITING = Symbol('requests that wait')

type Connection = Socket & { [LAST]?: ServerResponse; [BEFORE]?: ServerResponse | undefined; [WAITING]?: number }

/**
 * Serves the requests of one HTTP/1.1 connection one after the other. A client may send many before it has read an answer (pipelining); Node
 * would begin all of them at once, so that one connection could take every place there is. A connection with more than `most` requests that
 * wait is ended: no client that means well has so many.
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

/** How many requests wait with the one that has come. */
function countWaiting(connection: Connection): number {
  const waiting = (connection[WAITING] ?? 0) + 1
  connection[WAITING] = waiting
  return waiting
}

/** A function of its own: what closes over a request costs memory, and hardly a request has to wait. */
function beginAfter(last: ServerResponse, handler: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  const connection: Connection = request.socket
  const over = () => {
    connection[WAITING] = (connection[WAITING] ?? 1) - 1
    if (connection.writable) handler(request, response)
  }
  whenClosed(last, { over, next: undefined })
}

/** Notes an answer that something else than `inTurn` begins. */
export function noteAnswer(socket: Socket, response: ServerResponse): void {
  const connection: Connection = socket
  const last = connection[LAST]
  connection[BEFORE] = last?.closed ? undefined : last
  connection[LAST] = response
}

/**
 * Calls `then` when every request that came whole on this connection is answered; never when the connection is gone by then. Whatever is
 * written past the answers of Node would be taken for one of theirs.
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
