import type { IncomingHttpHeaders } from 'node:http'
import type { Operation, V1Request } from '../tables/operations/operation.ts'
import type { RawRequest } from '../upstream/legacy-ask.ts'
import type { Signal } from '../upstream/signal.ts'
import { utf8 } from './body.ts'
import type { Identified } from './caller.ts'
import { parseJson } from './json-text.ts'
import { parseQuery, searchOf } from './query-string.ts'
import type { Found } from './route-request.ts'

/** One v1 request, as it came and as the tables read it: what is served, explained, replayed and compared. */
export interface Request {
  readonly operation: Operation
  /** As it came: what the v1 service gets. */
  readonly raw: RawRequest
  /** Parses it, once. Throws an ApiError when it cannot be read. */
  readonly read: () => V1Request
}

/** A request whose client waits for the answer. */
export interface ClientRequest extends Request, Identified {
  /** Fires when the client goes away. */
  readonly client: Signal
  /** Fires at the request's deadline as well. */
  readonly signal: Signal
}

/** A request that leads to an operation. */
export function createRequest(routed: Found, raw: RawRequest): Request {
  let known: V1Request | undefined
  const read = () => {
    known ??= parse(routed, raw)
    return known
  }
  return { operation: routed.match.operation, raw, read }
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Whether the body of such a request is read; of others it means nothing. */
export function takesBody({ form, match }: Found): boolean {
  return form || WITH_BODY.has(match.operation.method)
}

/** The head of a request. */
export interface Head {
  readonly method?: string | undefined
  /** Path and query, still encoded. */
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** Whether the body is known to fit; one of unknown length may not. */
export function isBodyWithin({ headers }: Head, limit: number): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= limit
}

function parse({ form, match }: Found, { url, body }: RawRequest): V1Request {
  const { params } = match
  const text = body && utf8(body)
  if (form) return { params, query: parseQuery(searchOf(url), text ?? ''), body: undefined }
  return { params, query: parseQuery(searchOf(url)), body: text === undefined ? undefined : parseJson(text) }
}
