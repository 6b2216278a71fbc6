import type { Server } from 'node:http'
import type { Http2Server, ServerHttp2Session } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Certificate } from './certificate.ts'
import { readFirstBytes } from './first-bytes.ts'
import { carefully, type Handlers } from './handlers.ts'
import { connectionEvent, createHttp1 } from './http1.ts'
import { createHttp2, type OnGrpc } from './http2.ts'
import type { ConnectionLimits } from './limits.ts'

export interface ListenerSettings extends ConnectionLimits {
  /** Without one the port speaks plain text. */
  readonly certificate: Certificate | undefined
}

/** One port for HTTP/1.1, HTTP/2 and gRPC. */
export interface Listener {
  readonly protocol: 'http' | 'https'
  /** The server that listens. */
  create(handlers: Handlers): Server
  /** Tells HTTP/2 clients, now and from now on, to go once their requests are over. */
  leave(): void
  /** Ends HTTP/2 connections and those that have not said a word. */
  cut(): void
}

/**
 * An HTTP/1.1 server whose connections are handed to an HTTP/2 server when they speak that: with TLS they say so in the handshake
 * (ALPN), in plain text by their first bytes. Node has nothing of the kind for plain text (design §6.4). Who has chosen HTTP/2 and then says
 * nothing waits for its first bytes as well.
 */
export function createListener(onGrpc: OnGrpc, { certificate, ...limits }: ListenerSettings): Listener {
  const silent = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
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
      const http2 = createHttp2(careful.request, onGrpc, limits, handlers.failed)
      http2.on('session', (session) => {
        sessions.add(session)
        session.once('close', () => sessions.delete(session))
        if (leaving) session.close()
      })
      http2.on('checkExpectation', careful.expectation as never)
      divert(http1, connectionEvent(certificate), http2, whenKnown)
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

/** Calls `known` as soon as it is clear whether a connection speaks HTTP/2. */
type WhenKnown = (socket: Socket, known: (isHttp2: boolean) => void) => void

/** The address of a server, without a trailing slash; empty until it listens. */
export function urlOf(server: Pick<Server, 'address'>, protocol: Listener['protocol']): string {
  const address = server.address() as AddressInfo | null
  if (!address) return ''
  return `${protocol}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

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
