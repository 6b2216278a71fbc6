import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { whenClosed } from '../signals.ts'

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
    const isFirst = !last || last.closed
    connection[BEFORE] = isFirst ? undefined : last
    connection[LAST] = response
    if (isFirst) handler(request, response)
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
function noteAnswer(socket: Socket, response: ServerResponse): void {
  const connection: Connection = socket
  const last = connection[LAST]
  connection[BEFORE] = last?.closed ? undefined : last
  connection[LAST] = response
}

/** True if a connection is silent because its only request, which is whole, waits for its answer. */
export function awaitsAnswer(socket: Socket): boolean {
  const { [LAST]: last, [BEFORE]: before }: Connection = socket
  return last?.req.complete === true && !last.headersSent && !last.closed && before?.closed !== false
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

/** The status of a handshake that the service accepts. */
export const SWITCHED = 101

/** A WebSocket handshake: the connection to hand over, and the bytes that the client sent after its head. */
export interface Handshake {
  readonly socket: Socket
  readonly head: Buffer
  /** Must be called by whatever takes the connection over, before it reads. */
  taken(): void
}

const HANDSHAKE = Symbol('handshake')

/** Returns the handshake of a request; undefined for every other request. */
export function handshakeOf(request: IncomingMessage): Handshake | undefined {
  return (request as IncomingMessage & { [HANDSHAKE]?: Handshake })[HANDSHAKE]
}

/** Receives the `upgrade` events of a server. */
type OnUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void

/**
 * Gives WebSocket handshakes to `handler` as ordinary requests in their turn. The same code admits, counts, answers and refuses them.
 * An offer of any other protocol may be ignored (RFC 9110 §7.8), and several HTTP clients send `h2c` with every request.
 * The server gets such a request once more (`serveAgain`), without the offer.
 */
export function createUpgrades(handler: RequestListener, serveAgain: (socket: Socket) => void): OnUpgrade {
  return (request, socket, head) => {
    // Node has removed its own listener; a connection may make many offers.
    socket.off('error', ignore).on('error', ignore)
    const taken = noticeEnd(socket)
    whenAnswered(socket, () => {
      if (isWebSocket(request)) return shakeHands(handler, request, { socket, head, taken })
      taken()
      socket.unshift(Buffer.concat([headWithoutOffer(request), head]))
      serveAgain(socket)
    })
  }
}

const ignore = () => {}

/**
 * Destroys a connection whose client is gone. A waiting connection is not read, and without reading Node does not report its end.
 * Returns a function that ends the watch. The client's bytes meanwhile stay in place.
 */
function noticeEnd(socket: Socket): () => void {
  const look = () => {
    if (socket.readableLength === 0) socket.read()
  }
  const gone = () => socket.destroy()
  socket.on('readable', look).once('end', gone)
  return () => void socket.off('readable', look).off('end', gone)
}

function isWebSocket({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Node has removed its parser from the connection. Unless the connection is switched over, this answer is its last one. */
function shakeHands(handler: RequestListener, request: IncomingMessage, handshake: Handshake): void {
  const { socket } = handshake
  const response = new http.ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    if (response.statusCode !== SWITCHED) socket.destroySoon()
  })
  noteAnswer(socket, response)
  handler(Object.assign(request, { [HANDSHAKE]: handshake }), response)
}

/** The options of `Connection` that belong to the offer, and the headers of the offer. */
const OFFER = new Set(['http2-settings', 'upgrade'])

/** Returns the head as received, without the offer. */
function headWithoutOffer({ method = 'GET', url = '/', httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    const lower = name.toLowerCase()
    if (!OFFER.has(lower)) lines.push(`${name}: ${lower === 'connection' ? withoutOffer(value) : value}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

function withoutOffer(options: string): string {
  return options
    .split(',')
    .filter((option) => !OFFER.has(option.trim().toLowerCase()))
    .join(',')
}
