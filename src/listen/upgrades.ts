import http, { type IncomingMessage, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { noteAnswer, whenAnswered } from './turns.ts'

/** The status of a handshake that the service agrees to. */
export const SWITCHED = 101

/** A WebSocket handshake: the connection that would be handed over, and what the client sent after its head. */
export interface Handshake {
  readonly socket: Socket
  readonly head: Buffer
  /** Whoever takes the connection over says so before it reads. */
  taken(): void
}

const HANDSHAKE = Symbol('handshake')

/** What a request may be switched over to; undefined for every other request. */
export function handshakeOf(request: IncomingMessage): Handshake | undefined {
  return (request as IncomingMessage & { [HANDSHAKE]?: Handshake })[HANDSHAKE]
}

/** Receives `upgrade` events of a server. */
export type OnUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void

/**
 * Gives WebSocket handshakes to `handler` as requests like every other, in their turn: they are let in, counted, answered and refused by
 * the same hands. An offer of any other protocol may be ignored (RFC 9110 §7.8), and several HTTP clients send `h2c` with every request: such a
 * request is given to the server once more (`serveAgain`), without the offer.
 */
export function createUpgrades(handler: RequestListener, serveAgain: (socket: Socket) => void): OnUpgrade {
  return (request, socket, head) => {
    // Node has taken its own listener away; a connection may make many offers.
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
 * Destroys a connection whose client is gone: nobody reads from it while it waits, and who does not read is not told. Returns what ends the
 * watch. What the client sends meanwhile stays where it is.
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

/** Node has taken its parser from the connection: unless it is switched over, this answer is its last one. */
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

/** The options of `Connection` that belong to the offer, and the headers that do. */
const OFFER = new Set(['http2-settings', 'upgrade'])

/** The head as it came, but for the offer. */
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
