import { X509Certificate } from 'node:crypto'
import http, { type RequestListener, type Server } from 'node:http'
import type { Http2Server, ServerHttp2Session } from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Server as SecureServer, TLSSocket } from 'node:tls'
import { guarded } from '../signals.ts'
import { createHttp2, cut, type OnGrpc } from './http2.ts'
import { createUpgrades, inTurn } from './upgrades.ts'

/** Limits of a connection, named as in the configuration. */
export interface ConnectionLimits {
  /** Bytes of request line and headers; a query with many uids needs room. */
  readonly headerBytes: number
  /** Milliseconds for the headers of a request to arrive. */
  readonly headersTimeoutMs: number
  /** Milliseconds without a byte in either direction before a connection is closed, even during a request. */
  readonly idleTimeoutMs: number
  /** Requests of one connection in progress or waiting: streams of HTTP/2, a pipeline of HTTP/1.1. */
  readonly maxStreams: number
  /** The maximum number of open connections; 0 = unlimited. */
  readonly connections: number
  /** Several processes listen on the port, by node:cluster. */
  readonly isShared?: boolean
}

/** The handlers of a port. None may throw; `failed` takes the exception of one that does. */
export interface Handlers {
  /** HTTP/2 requests have the form of HTTP/1.1 requests. WebSocket handshakes are requests too (`handshakeOf`). */
  readonly request: RequestListener
  /** Takes a request with an expectation that cannot be met (RFC 9110 §10.1.1). */
  readonly expectation: RequestListener
  readonly failed: (error: unknown) => void
  /** Called when a connection was closed at once because there are too many. */
  readonly dropped: () => void
}

/** Returns the same handlers. An exception of one ends its answer and nothing else. */
export function carefully({ request, expectation, ...told }: Handlers): Handlers {
  const careful = (handler: RequestListener) =>
    guarded(handler, (error, _, response) => {
      told.failed(error)
      response.destroy()
    })
  return { request: careful(request), expectation: careful(expectation), ...told }
}

/** A private key and its certificate chain as PEM texts. */
export interface Certificate {
  readonly key: string
  readonly cert: string
  /** The authorities one of which must have signed the certificate of each client. Without it, clients show none. */
  readonly ca?: string
}

/** Returns the time after which clients refuse the certificate, in seconds since the epoch. */
export function expiryOf({ cert }: Certificate): number {
  return Date.parse(new X509Certificate(cert).validTo) / 1000
}

/** Only the method that opens an HTTP/2 connection begins like this (RFC 9113 §3.4). */
const PREFACE = Buffer.from('PRI')

/**
 * Detects HTTP/2 by the first bytes of a connection and puts them back.
 * A connection that ends or breaks earlier, or is silent for `patienceMs` milliseconds, is destroyed.
 */
export function readFirstBytes(socket: Socket, patienceMs: number, decided: (isHttp2: boolean) => void): void {
  let seen: Buffer = Buffer.alloc(0)
  const giveUp = () => socket.destroy()
  const look = () => {
    seen = Buffer.concat([seen, socket.read() ?? Buffer.alloc(0)])
    const isPreface = PREFACE.subarray(0, seen.length).equals(seen.subarray(0, PREFACE.length))
    if (isPreface && seen.length < PREFACE.length) return
    socket.off('readable', look).off('end', giveUp).off('error', giveUp).off('timeout', giveUp)
    socket.setTimeout(0)
    socket.unshift(seen)
    decided(isPreface)
  }
  socket.on('readable', look).on('end', giveUp).on('error', giveUp).on('timeout', giveUp)
  socket.setTimeout(patienceMs)
}

/**
 * Closes connections beyond a maximum at once. node:cluster takes `maxConnections` for "ask another worker": while all are full, it passes
 * a connection from one to the next and back without end, at the cost of a core. (Node 22.12 has `dropMaxConnection` against that, Node 20
 * has nothing.) Call it when all other listeners of the server are there.
 */
function limitConnections(server: Server, most: number, dropped: () => void): void {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  let open = 0
  server.on('connection', (socket: Socket) => {
    if (open >= most) {
      dropped()
      return void socket.destroy()
    }
    open += 1
    socket.once('close', () => {
      open -= 1
    })
    for (const listener of listeners) listener.call(server, socket)
  })
}

/**
 * Node only checks for late headers periodically; four times within the limit is often enough.
 * The handler, not Node, refuses a request without a Host.
 */
function createHttp1(
  { request, expectation, failed, dropped }: Handlers,
  limits: ConnectionLimits,
  certificate: Certificate | undefined,
): Server {
  const { headerBytes, headersTimeoutMs, idleTimeoutMs, maxStreams, connections, isShared } = limits
  const settings = {
    maxHeaderSize: headerBytes,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: Math.max(10, Math.min(1000, headersTimeoutMs / 4)),
    requestTimeout: 0,
    requireHostHeader: false,
  }
  const asksClients = certificate?.ca !== undefined
  const secure = {
    ...certificate,
    requestCert: asksClients,
    rejectUnauthorized: asksClients,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: headersTimeoutMs,
  }
  const handler = inTurn(request, maxStreams)
  const server = certificate ? https.createServer({ ...settings, ...secure }, handler) : http.createServer(settings, handler)
  server.maxHeadersCount = 0
  if (connections > 0 && !isShared) server.maxConnections = connections
  server.on('drop', dropped)
  // Node would let a client error be answered, but nothing can be written before the handshake is done.
  server.removeAllListeners('tlsClientError').on('tlsClientError', (_: Error, socket: TLSSocket) => void socket.destroy())
  server.on('checkExpectation', inTurn(expectation, maxStreams))
  carryUpgrades(server, server.listeners(connectionEvent(certificate)) as OnConnection[], { request, failed })
  return server.setTimeout(idleTimeoutMs)
}

type OnConnection = (socket: Socket) => void

/** `asHttp1` are Node's own listeners for an HTTP/1.1 connection. */
function carryUpgrades(server: Server, asHttp1: readonly OnConnection[], { request, failed }: Pick<Handlers, 'request' | 'failed'>): void {
  const upgrade = createUpgrades(request, (socket) => {
    for (const listener of asHttp1) listener.call(server, socket)
  })
  server.on(
    'upgrade',
    guarded(upgrade, (error, _, socket) => {
      failed(error)
      socket.destroy()
    }),
  )
}

function connectionEvent(certificate: Certificate | undefined): 'connection' | 'secureConnection' {
  return certificate ? 'secureConnection' : 'connection'
}

interface ListenerSettings extends ConnectionLimits {
  /** Without a certificate the port uses plain text. */
  readonly certificate: Certificate | undefined
}

/** One port for HTTP/1.1, HTTP/2 and gRPC. */
interface Listener {
  readonly protocol: 'http' | 'https'
  /** Creates the server that listens. */
  create(handlers: Handlers): Server
  /**
   * Shows another certificate to whoever connects from now on. Who is connected leaves with the next answer: the authority that vouched
   * for a client may be gone. Only for a port that has a certificate.
   */
  certify(certificate: Certificate): void
  /** Tells HTTP/2 clients, present and future, to leave when their requests are over. */
  leave(): void
  /** Ends connections that have sent nothing at the 20th call. Node takes one without a request for a busy one. */
  tidy(): void
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
  /** Below TLS and within it, each with the calls of `tidy` that found it silent. */
  const open = new Map<Socket, number>()
  const opened = (socket: Socket) => {
    open.set(socket, 0)
    socket.once('close', () => open.delete(socket))
  }
  /** The connections that were open when the certificates changed: Node chooses those of a handshake before it begins. */
  let trustedBefore: WeakSet<Socket> | undefined
  const isOfBefore = (socket: Socket) => trustedBefore?.has(belowTls(socket)) === true
  const lastOfItsTrust: RequestListener = ({ socket }, response) => {
    if (isOfBefore(socket)) response.setHeader('connection', 'close')
  }
  let leaving = false
  const whenKnown: WhenKnown = (socket, known) => {
    if (certificate && (socket as TLSSocket).alpnProtocol !== 'h2') return known(false)
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
    readFirstBytes(socket, limits.headersTimeoutMs, (isHttp2) => {
      silent.delete(socket)
      if (certificate && !isHttp2) return void socket.destroy()
      known(isHttp2)
      if (isHttp2 && isOfBefore(socket)) [...sessions].at(-1)?.close()
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
      http1.prependListener('connection', opened)
      if (certificate) http1.prependListener('secureConnection', opened)
      if (limits.isShared && limits.connections > 0) limitConnections(http1, limits.connections, handlers.dropped)
      return http1
    },
    certify(other) {
      for (const server of secured) {
        server.setSecureContext(other)
        if (!trustedBefore) server.prependListener('request', lastOfItsTrust)
      }
      trustedBefore = new WeakSet(open.keys())
      for (const session of sessions) session.close()
    },
    leave() {
      leaving = true
      for (const session of sessions) session.close()
    },
    tidy() {
      for (const [socket, looks] of open) {
        if (socket.bytesRead > 0) continue
        if (looks + 1 < LOOKS) open.set(socket, looks + 1)
        else socket.destroy()
      }
    },
    cut() {
      for (const socket of silent) socket.destroy()
      for (const session of sessions) cut(session)
    },
  }
}

/** A request may be on its way. Looks are counted, not time: a process that stood still has not read what arrived meanwhile. */
const LOOKS = 20

/** Returns the connection that a TLS socket is on. Node does not document its name. */
function belowTls(socket: Socket): Socket {
  return (socket as Socket & { readonly _parent?: Socket | null })._parent ?? socket
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
