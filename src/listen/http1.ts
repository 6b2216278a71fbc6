import http, { type Server } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { guarded } from '../relay/guard.ts'
import type { Certificate } from './certificate.ts'
import type { Handlers } from './handlers.ts'
import type { ConnectionLimits } from './limits.ts'
import { inTurn } from './turns.ts'
import { createUpgrades } from './upgrades.ts'

/**
 * Node only checks for late headers periodically; four times within the limit is often enough.
 * The handler, not Node, refuses a request without a Host.
 */
export function createHttp1(
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
  const secure = { ...certificate, ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: headersTimeoutMs }
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

export function connectionEvent(certificate: Certificate | undefined): 'connection' | 'secureConnection' {
  return certificate ? 'secureConnection' : 'connection'
}
