import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { ProxyServer } from 'http-proxy-3'
import { ApiError, fromTransport, unrelayable } from '../../errors.ts'
import { endsHere, endToEndRaw, writeHead } from '../heads.ts'
import { guarded, whenClosed } from '../signals.ts'
import { DIRECT, type Dial } from './dial.ts'

/** How an agent keeps connections. */
interface AgentSettings {
  readonly connections: number
  readonly ageMs: number
  readonly dial: Dial
  /** Each request has a connection of its own. */
  readonly single?: true
}

/**
 * Keeps at most `connections` connections to a service; further requests wait. After `ageMs` a connection takes no further request (0 =
 * unlimited), and one that rests closes. A connection on which the service sends bytes without a request is closed: the bytes would be read as
 * the answer to the next request.
 */
function createAgent(base: string, { connections, ageMs, dial, single }: AgentSettings): http.Agent {
  const { origin } = new URL(base)
  // Another identity must not resume a session of TLS.
  const settings = {
    keepAlive: !single,
    maxSockets: connections,
    ...(Object.keys(dial.identityOf(origin)).length > 0 && { maxCachedSessions: 0 }),
  }
  const agent = base.startsWith('https:') ? new https.Agent(settings) : new http.Agent(settings)
  const { createConnection, keepSocketAlive, reuseSocket } = agent as unknown as Keeping
  const resting = new WeakSet<Duplex>()
  const old = new WeakSet<Duplex>()
  const aging = (socket: Duplex | undefined) => {
    if (!socket || ageMs === 0 || single) return socket
    const grown = () => {
      old.add(socket)
      if (resting.has(socket)) leave(socket)
    }
    const aged = setTimeout(grown, ageMs).unref()
    return socket.once('close', () => clearTimeout(aged))
  }
  return Object.assign<http.Agent, Keeping>(agent, {
    createConnection(options, done) {
      const open = (through: object) => createConnection.call(agent, { ...options, ...dial.identityOf(origin), ...through })
      const tunnel = dial.tunnel(origin)
      if (tunnel === undefined) return aging(open({}))
      tunnel.then((socket) => done?.(null, aging(base.startsWith('https:') ? open({ socket }) : socket)), done)
      return undefined
    },
    keepSocketAlive(socket) {
      if (old.has(socket)) return false
      resting.add(socket)
      socket.on('data', unasked)
      return keepSocketAlive.call(agent, socket)
    },
    reuseSocket(socket, request) {
      resting.delete(socket)
      socket.off('data', unasked)
      reuseSocket.call(agent, socket, request)
    },
  })
}

/** Options and methods of an agent that Node documents (`http.Agent`) and its types omit. */
interface Keeping {
  createConnection(options: object, done?: (error: Error | null, socket?: Duplex) => void): Duplex | undefined
  keepSocketAlive(socket: Duplex): boolean
  reuseSocket(socket: Duplex, request: http.ClientRequest): void
}

function unasked(this: Duplex): void {
  leave(this)
}

/** Ends a connection that rests. The agent must know in the same turn: it would give it to a request until it has closed. */
function leave(socket: Duplex): void {
  socket.destroy()
  socket.emit('agentRemove')
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
type Switched = (answer: IncomingMessage, socket: Socket, head: Buffer) => void

/** Ends the response of a request that could not be carried, or whose answer cannot be relayed (`status` 502). */
export type Failed = (response: ServerResponse, error: ApiError, status?: number) => void

export const BAD_GATEWAY = 502

export interface NativeSettings {
  /** The address of the v2 service. */
  readonly base: string
  /** The maximum number of connections to it; further requests wait. */
  readonly connections: number
  /** Milliseconds after which a connection takes no further request, so that a name that moves is followed; 0 or absent = unlimited. */
  readonly connectionAgeMs?: number
  /** How its connections open; directly without it. */
  readonly dial?: Dial
}

/**
 * http-proxy-3 with its measured traps closed (design §6.3): one keep-alive agent, verified TLS (its default), an error listener, no
 * hop-by-hop headers in either direction. The request target is sent unchanged (`toProxy`), and so are the answer's headers. A connection
 * returns to the agent only after a complete exchange. A handshake has its own connection, because anything may follow it.
 */
export function createNative({ base, connections, connectionAgeMs: ageMs = 0, dial = DIRECT }: NativeSettings, failed: Failed): Native {
  const agent = createAgent(base, { connections, ageMs, dial })
  const handshakes = createAgent(base, { connections: Number.POSITIVE_INFINITY, ageMs, dial, single: true })
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
    const problem = carryAnswer(answer, response, failed)
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
        if (socket && isOpening(socket)) socket.once(isSecure(socket) ? 'secureConnect' : 'connect', connected)
        else connected()
      })
      try {
        proxy.web(request, response)
      } catch (cause) {
        failed(response, unwritable(cause))
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
      proxy.web(request, response, { agent: handshakes, buffer: Readable.from([]) })
    },
    close() {
      agent.destroy()
      handshakes.destroy()
    },
  }
}

/** Node sets `alpnProtocol` when a handshake of TLS is complete; until then it is null. */
function isOpening(socket: Socket): boolean {
  return socket.connecting || (isSecure(socket) && socket.alpnProtocol === null)
}

function isSecure(socket: Socket): socket is TLSSocket {
  return socket instanceof TLSSocket
}

/** HTTP/2 allows more in a path than HTTP/1.1 does. */
export function unwritable(cause: unknown): ApiError {
  return new ApiError('INVALID_ARGUMENT', 'the request cannot be written as HTTP/1.1', { cause })
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
function carryAnswer(answer: IncomingMessage, response: ServerResponse, failed: Failed): string | undefined {
  response.sendDate = false
  const { statusCode: status = 0, statusMessage: reason = '' } = answer
  const refused = writeHead(response, { status, reason, headers: endToEndRaw(answer.rawHeaders) })
  if (refused) answer.destroy()
  else carryBody(answer, response, failed)
  return refused?.problem
}

/** Breaks the answer off as v2 breaks off its own, and v2's as the client its own. `pipeline` would make an AbortController for each answer. */
function carryBody(answer: IncomingMessage, response: ServerResponse, failed: Failed): void {
  answer
    .on('error', (error) => failed(response, fromTransport(error)))
    .once('close', () => {
      if (!answer.readableEnded) response.destroy()
    })
  response.on('error', nothing)
  whenClosed(response, { over: () => void (answer.readableEnded || answer.destroy()), next: undefined })
  answer.pipe(response)
  // A client of an event stream waits for the head; what came with it is passed on before.
  process.nextTick(() => {
    if (!answer.readableDidRead) response.flushHeaders()
  })
}

/** Every stream of an exchange says its end by `close` as well. */
function nothing(): void {}
