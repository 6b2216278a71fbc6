import http, { type RequestListener, type Server } from 'node:http'
import type { Http2Server, ServerHttp2Session } from 'node:http2'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Certificate } from './certificate.ts'
import { readFirstBytes } from './first-bytes.ts'
import { createHttp2, type Http2Limits, type OnGrpc } from './http2.ts'
import type { ConnectionLimits } from './limits.ts'

export interface ListenerSettings extends Http2Limits {
  /** Without one the port speaks plain text. */
  readonly certificate: Certificate | undefined
}

/** One port for HTTP/1.1, HTTP/2 and gRPC. */
export interface Listener {
  readonly protocol: 'http' | 'https'
  /** The server that listens; HTTP/2 requests reach `handler` in the shape of HTTP/1.1 ones. */
  create(handler: RequestListener): Server
  /** Tells HTTP/2 clients, now and from now on, to go once their requests are over. */
  leave(): void
  /** Ends HTTP/2 connections and those that have not said a word. */
  cut(): void
}

/**
 * An HTTP/1.1 server whose connections are handed to an HTTP/2 server when they speak that: with TLS they say so in the handshake
 * (ALPN), in plain text by their first bytes. Node has nothing of the kind for plain text (packages §4).
 */
export function createListener(onGrpc: OnGrpc, { certificate, ...limits }: ListenerSettings): Listener {
  const silent = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  let leaving = false
  const whenKnown: WhenKnown = (socket, known) => {
    if (certificate) return known((socket as TLSSocket).alpnProtocol === 'h2')
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
    readFirstBytes(socket, limits.headersTimeoutMs, (isHttp2) => {
      silent.delete(socket)
      known(isHttp2)
    })
  }
  return {
    protocol: certificate ? 'https' : 'http',
    create(handler) {
      const http1 = createHttp1(handler, limits, certificate)
      const http2 = createHttp2(handler, onGrpc, limits)
      http2.on('session', (session) => {
        sessions.add(session)
        session.once('close', () => sessions.delete(session))
        if (leaving) session.close()
      })
      http2.on('checkExpectation', (request, response) => http1.emit('checkExpectation', request, response))
      divert(http1, certificate ? 'secureConnection' : 'connection', http2, whenKnown)
      return http1
    },
    leave() {
      leaving = true
      for (const session of sessions) session.close()
    },
    cut() {
      for (const socket of silent) socket.destroy()
      for (const session of sessions) session.destroy()
    },
  }
}

/**
 * Node looks for late headers from time to time only; four times within the limit, so that it is kept. It would refuse a request without
 * a Host in words of its own; the handler does.
 */
function createHttp1(handler: RequestListener, limits: ConnectionLimits, certificate: Certificate | undefined): Server {
  const { headerBytes, headersTimeoutMs, idleTimeoutMs } = limits
  const settings = {
    maxHeaderSize: headerBytes,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: Math.max(10, Math.min(1000, headersTimeoutMs / 4)),
    requestTimeout: 0,
    requireHostHeader: false,
  }
  const server = certificate
    ? https.createServer({ ...settings, ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, handler)
    : http.createServer(settings, handler)
  server.maxHeadersCount = 0
  return server.setTimeout(idleTimeoutMs)
}

/** Calls `known` as soon as it is clear whether a connection speaks HTTP/2. */
type WhenKnown = (socket: Socket, known: (isHttp2: boolean) => void) => void

/** Puts the choice of the protocol between `http1` and its own listener for new connections. */
function divert(http1: Server, event: 'connection' | 'secureConnection', http2: Http2Server, whenKnown: WhenKnown): void {
  const asHttp1 = http1.listeners(event)
  http1.removeAllListeners(event)
  http1.on(event, (socket: Socket) => {
    whenKnown(socket, (isHttp2) => {
      if (isHttp2) handOver(socket, http2)
      else for (const listener of asHttp1) listener.call(http1, socket)
    })
  })
}

/** Milliseconds of silence after which TCP looks whether the other side is still there. */
const PROBE_AFTER = 30_000

/** HTTP/1.1 answers clients that have closed their half of the connection; for HTTP/2 that is its end, and Node waits for it in vain. */
function handOver(socket: Socket, http2: Http2Server): void {
  socket.allowHalfOpen = false
  socket.setKeepAlive(true, PROBE_AFTER)
  http2.emit('connection', socket)
}
