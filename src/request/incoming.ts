import type { IncomingMessage, ServerResponse } from 'node:http'
import type { V1Request } from '../tables/language/operation.ts'
import type { RawRequest } from '../upstream/legacy-ask.ts'
import type { Signal } from '../upstream/signal.ts'
import { type ReadBytes, utf8 } from './body.ts'
import { parseJson } from './json-text.ts'
import { parseQuery, searchOf } from './query-string.ts'
import type { Routed } from './route-request.ts'

/** A request as it came, and as the tables read it. */
export interface ReadRequest {
  readonly raw: RawRequest
  /** Parses it, once. Throws an ApiError when it cannot be read. */
  readonly read: () => V1Request
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Takes the request that a response answers, with its body, from the connection; what they mean is asked later. Without a body it is there. */
export function readIncoming(
  routed: Routed,
  response: ServerResponse,
  id: string,
  readBytes: ReadBytes,
  signal: Signal,
): ReadRequest | Promise<ReadRequest> {
  if (!takesBody(routed)) return readRequest(routed, response.req, id, undefined)
  return readBytes(response, signal).then((body) => readRequest(routed, response.req, id, body))
}

function readRequest(
  routed: Routed,
  { method = '', url = '', headers }: IncomingMessage,
  id: string,
  body: Buffer | undefined,
): ReadRequest {
  let known: V1Request | undefined
  const read = () => {
    known ??= parseRequest(routed, url, body && utf8(body))
    return known
  }
  return { raw: { id, method, url, headers, body }, read }
}

/** Whether the body is known to fit; one of unknown length may not. */
export function isBodyWithin({ headers }: Pick<IncomingMessage, 'headers'>, limit: number): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= limit
}

/** Whether the body of such a request is read; of others it means nothing. */
export function takesBody(routed: Routed): boolean {
  return routed.form || WITH_BODY.has(matchOf(routed).operation.method)
}

/** A routed request as the tables read it: `text` is its body, undefined where there is none. Throws an ApiError when it cannot be read. */
export function parseRequest(routed: Routed, url: string, text: string | undefined): V1Request {
  const { params } = matchOf(routed)
  if (routed.form) return { params, query: parseQuery(searchOf(url), text ?? ''), body: undefined }
  return { params, query: parseQuery(searchOf(url)), body: text === undefined ? undefined : parseJson(text) }
}

function matchOf({ match }: Routed) {
  return match as Exclude<Routed['match'], string | undefined>
}
