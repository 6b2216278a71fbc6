import type { Server } from 'node:http'
import type { Http2Server, ServerHttp2Session } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { Server as SecureServer, TLSSocket } from 'node:tls'
import { cut } from '../relay/cut.ts'
import type { Certificate } from './certificate.ts'
import { limitConnections } from './connection-limit.ts'
import { readFirstBytes } from './first-bytes.ts'
import { carefully, type Handlers } from './handlers.ts'
import { connectionEvent, createHttp1 } from './http1.ts'
import { createHttp2, type OnGrpc } from './http2/http2.ts'
import type { ConnectionLimits } from './limits.ts'

export interface ListenerSettings extends ConnectionLimits {
  /** Without a certificate the port uses plain text. */
  readonly certificate: Certificate | undefined
}

/** One port for HTTP/1.1, HTTP/2 and gRPC. */
export interface Listener {
  readonly protocol: 'http' | 'https'
  /** Creates the server that listens. */
  create(handlers: Handlers): Server
  /** Shows another certificate to whoever connects from now on. Only for a port that has one. */
  certify(certificate: Certificate): void
  /** Tells HTTP/2 clients, present and future, to leave when their requests are over. */
  leave(): void
  /** Ends HTTP/2 connections and silent ones. */
  cut(): void
}

/**
 * An HTTP/1.1 server that hands HTTP/2 connections to another server. With TLS the handshake decides (ALPN), in plain text the first
 * bytes. Node has no such choice for plain text (design §6.4). A connection that chose HTTP/2 also waits for its first bytes.
 */
export function createListener(onGrpc: OnGrpc, { certificate, ...limits }: ListenerSettings): Listener {
  const silent = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const secured: SecureServer[] = []
  let leaving = false
  const whenKnown: WhenKnown = (socket, known) => {
    if (certificate && (socket as TLSSocket).alpnProtocol !== 'h2') return known(false)
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
    readFirstBytes(socket, limits.headersTimeoutMs, (isHttp2) => {
      silent.delete(socket)
      if (certificate && !isHttp2) socket.destroy()
      else known(isHttp2)
    })
  }
  return {
    protocol: certificate ? 'https' : 'http',
    create(handlers) {
      const careful = carefully(handlers)
      const http1 = createHttp1(careful, limits, certificate)
      if (certificate) secured.push(http1 as unknown as SecureServer)
      const http2 = createHttp2(careful.request, onGrpc, limits, handlers.failed)
      http2.on('session', (session) => {
        sessions.add(session)
        session.once('close', () => sessions.delete(session))
        if (leaving) session.close()
      })
      http2.on('checkExpectation', careful.expectation as never)
      divert(http1, connectionEvent(certificate), http2, whenKnown)
      if (limits.isShared && limits.connections > 0) limitConnections(http1, limits.connections, handlers.dropped)
      return http1
    },
    certify(other) {
      for (const server of secured) server.setSecureContext(other)
    },
    leave() {
      leaving = true
      for (const session of sessions) session.close()
    },
    cut() {
      for (const socket of silent) socket.destroy()
      for (const session of sessions) cut(session)
    },
  }
}

/** Calls `known` as soon as it is known whether a connection speaks HTTP/2. */
type WhenKnown = (socket: Socket, known: (isHttp2: boolean) => void) => void

/** Returns the address of a server without a trailing slash; empty until it listens. */
export function urlOf(server: Pick<Server, 'address'>, protocol: Listener['protocol']): string {
  const address = server.address() as AddressInfo | null
  if (!address) return ''
  return `${protocol}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

/** Inserts the choice of protocol between `http1` and its own listener for new connections. */
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

/** Milliseconds of silence before TCP probes the other side. */
const PROBE_AFTER = 30_000

/**
 * HTTP/1.1 answers clients that have closed their half of the connection.
 * For HTTP/2 that is the end of the connection, and Node would wait for it in vain.
 */
function handOver(socket: Socket, http2: Http2Server): void {
  socket.allowHalfOpen = false
  socket.setKeepAlive(true, PROBE_AFTER)
  http2.emit('connection', socket)
}
