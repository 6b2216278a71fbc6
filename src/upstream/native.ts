import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { ProxyServer } from 'http-proxy-3'
import type { ApiError } from '../errors/api-error.ts'
import { fromTransport } from '../errors/from-v2.ts'
import { endsHere, endToEnd, endToEndRaw } from './hop-by-hop.ts'

/** Carries bytes to the v2 service and back without looking at them. */
export interface Native {
  /** One request; it must not be `isUnframable`. */
  web(request: IncomingMessage, response: ServerResponse): void
  /** A WebSocket handshake and everything after it. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void
  close(): void
}

/** Told when a request could not be carried; must end the response or the socket. */
export type Failed = (error: ApiError, request: IncomingMessage, target: ServerResponse | Socket) => void

/**
 * http-proxy-3 with its measured traps closed (packages §3): one keep-alive agent, TLS verified (its default), an error listener,
 * hop-by-hop headers taken out both ways. The request target goes out as it came (`toProxy`), the answer's headers as v2 wrote them.
 */
export function createNative(base: string, failed: Failed): Native {
  const agent = base.startsWith('https:') ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true })
  const proxy = new ProxyServer({ target: base, agent, changeOrigin: true, toProxy: true, selfHandleResponse: true })
  proxy.on('error', (error, request, target) => {
    failed(fromTransport(error), request, target)
  })
  proxy.on('proxyRes', (answer, _, response) => carryAnswer(answer, response))
  return {
    web(request, response) {
      dropHopByHop(request)
      proxy.web(request, response)
    },
    upgrade(request, socket, head) {
      request.headers = { ...endToEnd(request.headers), connection: 'Upgrade', upgrade: 'websocket' }
      proxy.ws(request, socket, head)
    },
    close: () => agent.destroy(),
  }
}

/** In place, because HTTP/2 requests read their target from their headers; http-proxy-3 leaves those aside (`:path`). */
function dropHopByHop({ headers }: IncomingMessage): void {
  const ends = endsHere(headers.connection)
  for (const name of Object.keys(headers)) if (ends(name) && name !== 'transfer-encoding' && !name.startsWith(':')) delete headers[name]
}

/** http-proxy-3 would send such a body without its framing, so that it became the next request on the connection (packages §0). */
export function isUnframable({ method, headers }: IncomingMessage): boolean {
  return (method === 'DELETE' || method === 'OPTIONS') && headers['content-length'] === undefined && 'transfer-encoding' in headers
}

/** The answer as v2 sent it, but for the words beside its status where HTTP/2 has no place for them; when v2 breaks off, so do we. */
function carryAnswer(answer: IncomingMessage, response: ServerResponse): void {
  response.sendDate = false
  const headers = endToEndRaw(answer.rawHeaders)
  const status = answer.statusCode ?? 502
  if ('stream' in response) response.writeHead(status, headers)
  else response.writeHead(status, answer.statusMessage ?? '', headers)
  pipeline(answer, response, () => {})
}
