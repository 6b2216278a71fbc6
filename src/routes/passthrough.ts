import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors/api-error.ts'
import { createNative, isUnframable } from '../upstream/native.ts'
import type { Exchange } from './exchange.ts'
import type { Forwarded } from './forwarded.ts'
import { refuse, refuseSocket } from './refusal.ts'

const LENGTH_REQUIRED = 411

/** Everything that is not v1: native v2 calls, uploads, WebSockets. */
export interface Passthrough {
  /** Hands a request over to v2: from here on it is nobody's business what it says. */
  serve(request: FastifyRequest, reply: FastifyReply, exchange: Exchange): void
  /** Carries the WebSockets of `server` to v2. */
  carryUpgrades(server: Server): void
  /** Ends all WebSockets: they have no end of their own that a shutdown could wait for. */
  endUpgrades(): void
  close(): void
}

export function createPassthrough(base: string, forwarded: Forwarded): Passthrough {
  const exchanges = new WeakMap<ServerResponse, Exchange>()
  const fail = failing(exchanges)
  const native = createNative(base, (error, _, target) => ('writeHead' in target ? fail(target, error) : refuseSocket(target, error)))
  const open = new Set<Socket>()
  return {
    serve(request, reply, exchange) {
      exchange.operation = 'native'
      exchange.mode = 'native'
      exchanges.set(reply.raw, exchange)
      reply.hijack()
      forwarded.rewrite(request.raw)
      if (isUnframable(request.raw)) fail(reply.raw, lengthRequired(), LENGTH_REQUIRED)
      else native.web(request.raw, reply.raw)
    },
    carryUpgrades(server) {
      server.on('upgrade', (request, socket: Socket, head) => {
        if (request.headers.upgrade?.toLowerCase() !== 'websocket') return ignoreOffer(server, request, socket, head)
        open.add(socket)
        socket.once('close', () => open.delete(socket))
        forwarded.rewrite(request)
        native.upgrade(request, socket, head)
      })
    },
    endUpgrades() {
      for (const socket of open) socket.destroySoon()
    },
    close: native.close,
  }
}

/** Ends a response with an error and records it. */
function failing(exchanges: WeakMap<ServerResponse, Exchange>) {
  return (response: ServerResponse, error: ApiError, status?: number) => {
    const exchange = exchanges.get(response)
    if (exchange) exchange.error = error
    refuse(response, error, status)
  }
}

function lengthRequired(): ApiError {
  const message = 'a DELETE or OPTIONS request with a body needs a content-length header'
  return new ApiError('INVALID_ARGUMENT', message, { headers: { connection: 'close' } })
}

/**
 * An `Upgrade` is an offer that a server may ignore (RFC 9110 §7.8), and several HTTP clients send `h2c` with every request: such a
 * request is given to the server again, on the same socket, without the offer.
 */
function ignoreOffer(server: Server, { method, url, rawHeaders }: IncomingMessage, socket: Socket, head: Buffer): void {
  socket.unshift(Buffer.concat([headWithoutOffer(method, url, rawHeaders), head]))
  server.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket)
}

const OFFER = new Set(['connection', 'http2-settings', 'upgrade'])

function headWithoutOffer(method = 'GET', url = '/', rawHeaders: readonly string[]): Buffer {
  const lines = [`${method} ${url} HTTP/1.1`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!OFFER.has((rawHeaders[at] ?? '').toLowerCase())) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
