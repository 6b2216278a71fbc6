import type { IncomingMessage, ServerResponse } from 'node:http'

/** Lets pages of other origins call by gRPC-Web and Connect (Fetch, CORS protocol). */
export interface Cors {
  /** Lets a page of an allowed origin read the answer, with its metadata. */
  open(request: IncomingMessage, response: ServerResponse): void
  /** Answers a preflight of an allowed origin, after `open`; false for any other request. */
  preflight(request: IncomingMessage, response: ServerResponse): boolean
}

/** Seconds for which a browser may keep the answer to a preflight; browsers allow at most two hours. */
const KEPT = 7200

/** Names of headers with commas between them. Others cannot be asked for. */
const NAMES = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/

/**
 * Metadata can have any name, so all headers are exposed. The wildcard suffices, because cookies are not allowed. Older browsers know
 * none and see the status at least.
 */
const EXPOSED = '*, grpc-status, grpc-message, grpc-status-details-bin'

/** Allows these origins, as in `https://console.example.com`; `*` allows all. */
export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins)
  const isAllowed = (origin: string | undefined): origin is string => origin !== undefined && (allowed.has('*') || allowed.has(origin))
  const open: Cors['open'] = ({ headers: { origin } }, response) => {
    response.appendHeader('vary', 'origin')
    if (!isAllowed(origin)) return
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', EXPOSED)
  }
  return {
    open,
    preflight({ method, headers }, response) {
      const wanted = headers['access-control-request-headers']
      if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined || !isAllowed(headers.origin)) return false
      response.setHeader('access-control-allow-methods', 'GET, POST')
      if (wanted !== undefined && NAMES.test(wanted)) response.setHeader('access-control-allow-headers', wanted)
      response.setHeader('access-control-max-age', KEPT)
      response.writeHead(204).end()
      return true
    },
  }
}
