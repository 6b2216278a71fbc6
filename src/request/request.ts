import type { IncomingHttpHeaders } from 'node:http'
import type { Signal } from '../limits/signal.ts'
import { parseJson } from '../tables/json.ts'
import type { Operation, V1Request } from '../tables/operation.ts'
import type { RawRequest } from '../upstream/ask-rest.ts'
import { utf8 } from './body.ts'
import type { Identified } from './caller.ts'
import { parseQuery, searchOf } from './query-string.ts'
import type { Found } from './route-request.ts'

/** One v1 request, raw and as the tables read it. Serving, explain, replay and comparison all use it. */
export interface Request {
  readonly operation: Operation
  /** The request as received, for the v1 service. */
  readonly raw: RawRequest
  /** Parses the request, once. Throws an ApiError if that fails. */
  readonly read: () => V1Request
}

/** A request with a client that waits for the answer. */
export interface ClientRequest extends Request, Identified {
  /** Fires when the client goes away. */
  readonly client: Signal
  /** Fires when the client goes away or the deadline passes. */
  readonly signal: Signal
}

/** Creates a request that was routed to an operation. */
export function createRequest(routed: Found, raw: RawRequest): Request {
  let known: V1Request | undefined
  const read = () => {
    known ??= parse(routed, raw)
    return known
  }
  return { operation: routed.match.operation, raw, read }
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** True if the body of the request is read; for other requests it has no meaning. */
export function takesBody({ form, match }: Found): boolean {
  return form || WITH_BODY.has(match.operation.method)
}

/** The head of a request. */
export interface RequestHead {
  readonly method?: string | undefined
  /** Path and query, still encoded. */
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** True if the body is known to fit; a body of unknown length may not. */
export function isBodyWithin({ headers }: RequestHead, limit: number): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= limit
}

function parse({ form, match }: Found, { url, body }: RawRequest): V1Request {
  const { params } = match
  const text = body && utf8(body)
  if (form) return { params, query: parseQuery(searchOf(url), text ?? ''), body: undefined }
  return { params, query: parseQuery(searchOf(url)), body: text === undefined ? undefined : parseJson(text) }
}
