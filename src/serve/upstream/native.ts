import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { ProxyServer } from 'http-proxy-3'
import { ApiError, fromTransport, unrelayable } from '../../errors.ts'
import { endsHere, endToEndRaw, giveHead } from '../heads.ts'
import { guarded, whenClosed } from '../signals.ts'

/**
 * Keeps at most `connections` connections to a service; further requests wait. The first request after `ageMs` is
 * the last on its connection (0 = unlimited). Closing one that waits would race with the next request. A connection on which the service sends bytes without a request is closed: the bytes would be read as the answer to the next request.
 */
export function createAgent(base: string, connections: number, ageMs = 0): http.Agent {
  const settings = { keepAlive: true, maxSockets: connections }
  const agent = base.startsWith('https:') ? new https.Agent(settings) : new http.Agent(settings)
  const { createConnection, keepSocketAlive, reuseSocket } = agent as unknown as Keeping
  const ends = new WeakMap<Duplex, number>()
  return Object.assign<http.Agent, Keeping>(agent, {
    createConnection(...given) {
      const socket = createConnection.apply(agent, given)
      if (ageMs > 0) ends.set(socket, performance.now() + ageMs)
      return socket
    },
    keepSocketAlive(socket) {
      if (performance.now() >= (ends.get(socket) ?? Number.POSITIVE_INFINITY)) return false
      socket.on('data', unasked)
      return keepSocketAlive.call(agent, socket)
    },
    reuseSocket(socket, request) {
      socket.off('data', unasked)
      reuseSocket.call(agent, socket, request)
    },
  })
}

/** Options and methods of an agent that Node documents (`http.Agent`) and its types omit. */
interface Keeping {
  createConnection(...given: unknown[]): Duplex
  keepSocketAlive(socket: Duplex): boolean
  reuseSocket(socket: Duplex, request: http.ClientRequest): void
}

function unasked(this: Duplex): void {
  this.destroy()
}

/** Carries bytes to the v2 service and back without reading them. */
export interface Native {
  /** Carries one request, which must not be `isUnframable`. Calls `connected` when it has a connection to v2. */
  web(request: IncomingMessage, response: ServerResponse, connected: () => void): void
  /** Carries a WebSocket handshake. Calls `switched` with v2's head if v2 agrees. Every other answer goes to `response`. */
  shakeHands(request: IncomingMessage, response: ServerResponse, switched: Switched): void
  close(): void
}

/** Takes a call that has a connection. */
type OnCall = (call: ClientRequest) => void

/** Takes v2's switch of protocols: the answer, the connection, and the first bytes on it. */
export type Switched = (answer: IncomingMessage, socket: Socket, head: Buffer) => void

/** Ends the response of a request that could not be carried, or whose answer cannot be relayed (`status` 502). */
export type Failed = (response: ServerResponse, error: ApiError, status?: number) => void

const BAD_GATEWAY = 502

export interface NativeSettings {
  /** The address of the v2 service. */
  readonly base: string
  /** The maximum number of connections to it; further requests wait. */
  readonly connections: number
  /** Milliseconds after which a connection is used for one request more, so that a name that moves is followed; 0 or absent = unlimited. */
  readonly connectionAgeMs?: number
}

/**
 * http-proxy-3 with its measured traps closed (design §6.3): one keep-alive agent, verified TLS (its default), an error listener, no
 * hop-by-hop headers in either direction. The request target is sent unchanged (`toProxy`), and so are the answer's headers. A connection
 * returns to the agent only after a complete exchange. A handshake has its own connection, because anything may follow it.
 */
export function createNative({ base, connections, connectionAgeMs }: NativeSettings, failed: Failed): Native {
  const agent = createAgent(base, connections, connectionAgeMs)
  const proxy = new ProxyServer({ target: base, agent, changeOrigin: true, toProxy: true, selfHandleResponse: true })
  const waiting = new WeakMap<ServerResponse, OnCall>()
  const careful = <A>(handler: (event: A, request: IncomingMessage, response: ServerResponse) => void) =>
    guarded(handler, (_, __, ___, response) => response.destroy())
  const onError = (error: Error, _: IncomingMessage, response: ServerResponse) => {
    // An answer that has begun reports its own end. v2 may have answered and closed before it had read the whole request.
    if (!response.headersSent) failed(response, fromTransport(error))
  }
  const onCall = (call: ClientRequest, _: IncomingMessage, response: ServerResponse) => {
    endWith(call, response)
    waiting.get(response)?.(call)
  }
  const onAnswer = (answer: IncomingMessage, _: IncomingMessage, response: ServerResponse) => {
    const problem = carryAnswer(answer, response)
    if (problem !== undefined) failed(response, unrelayable('v2', problem), BAD_GATEWAY)
  }
  proxy.on('error', careful(onError) as never)
  proxy.on('proxyReq', careful(onCall))
  proxy.on('proxyRes', careful(onAnswer))
  return {
    web(request, response, connected) {
      prepare(request)
      waiting.set(response, (call) => {
        const { socket } = call
        // Without a listener, Node silently ends the connection.
        call.once('upgrade', (_, switched) => {
          switched.destroy()
          failed(response, unrelayable('v2', 'its status 101, which nobody asked for'), BAD_GATEWAY)
        })
        if (socket?.connecting) socket.once('connect', connected)
        else connected()
      })
      try {
        proxy.web(request, response)
      } catch (cause) {
        // HTTP/2 allows more in a path than HTTP/1.1 does.
        failed(response, new ApiError('INVALID_ARGUMENT', 'the request cannot be written as HTTP/1.1', { cause }))
      }
    },
    shakeHands(request, response, switched) {
      const onUpgrade = (answer: IncomingMessage, socket: Socket, head: Buffer) => {
        const protocol = answer.headers.upgrade?.toLowerCase()
        if (protocol === 'websocket') return switched(answer, socket, head)
        socket.destroy()
        failed(response, unrelayable('v2', `its protocol ${protocol}`), BAD_GATEWAY)
      }
      const thrown = (_: unknown, __: IncomingMessage, socket: Socket) => {
        socket.destroy()
        response.destroy()
      }
      prepare(request)
      Object.assign(request.headers, { connection: 'Upgrade', upgrade: 'websocket' })
      waiting.set(response, (call) => void call.once('upgrade', guarded(onUpgrade, thrown) as never))
      proxy.web(request, response, { agent: false, buffer: Readable.from([]) })
    },
    close: () => agent.destroy(),
  }
}

/** If a request is incomplete when its answer ends, it will stay so. Its connection cannot be reused. */
function endWith(call: ClientRequest, response: ServerResponse): void {
  const end = () => {
    if (!call.writableFinished) call.destroy()
  }
  if (response.closed) call.destroy()
  else response.once('close', end)
}

/**
 * Prepares headers in place, because HTTP/2 requests read their target from them; http-proxy-3 ignores those (`:path`). Our own framing
 * replaces the client's, which a service may read as another coding. Our server has already answered the client's `Expect`.
 */
function prepare({ headers }: IncomingMessage): void {
  const isChunked = headers['transfer-encoding'] !== undefined
  const ends = endsHere(headers.connection)
  for (const name of Object.keys(headers)) if ((ends(name) && !name.startsWith(':')) || name === 'expect') delete headers[name]
  if (isChunked) headers['transfer-encoding'] = 'chunked'
}

/** http-proxy-3 would send such a body without framing; it would become the next request on the connection (design §6.3). */
export function isUnframable({ method, headers }: IncomingMessage): boolean {
  return (method === 'DELETE' || method === 'OPTIONS') && headers['content-length'] === undefined && 'transfer-encoding' in headers
}

/** Relays v2's answer, or returns the problem with its head. If v2 breaks off, the answer to the client does too. */
function carryAnswer(answer: IncomingMessage, response: ServerResponse): string | undefined {
  response.sendDate = false
  const { statusCode: status = 0, statusMessage: reason = '' } = answer
  const refused = giveHead(response, { status, reason, headers: endToEndRaw(answer.rawHeaders) })
  if (refused) answer.destroy()
  else carryBody(answer, response)
  return refused?.problem
}

/** Breaks the answer off as v2 breaks off its own, and v2's as the client its own. `pipeline` would make an AbortController for each answer. */
function carryBody(answer: IncomingMessage, response: ServerResponse): void {
  answer.on('error', nothing).once('close', () => {
    if (!answer.readableEnded) response.destroy()
  })
  response.on('error', nothing)
  whenClosed(response, { over: () => void (answer.readableEnded || answer.destroy()), next: undefined })
  answer.pipe(response)
}

/** Every stream of an exchange says its end by `close` as well. */
function nothing(): void {}
