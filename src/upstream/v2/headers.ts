import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Headers, beside the credential, that v2 may answer by: the client's program and what it wants carried along. */
const ANSWERED_BY = ['user-agent', 'baggage', 'cgclientid'] as const

/** Headers that identify a request, its trace or its path. They do not change the answer, and hardly two requests have the same ones. */
const NAMING = ['tracestate', 'cgrequestid', 'cdn-loop'] as const

/** The headers that a translated call takes from the v1 request. All others describe the v1 exchange and are dropped. */
const FORWARDED = ['authorization', ...ANSWERED_BY, ...NAMING] as const

/** True if v2 has no reason to answer two requests of one credential differently. */
export function areAnsweredAlike(one: IncomingHttpHeaders, other: IncomingHttpHeaders): boolean {
  return ANSWERED_BY.every((name) => one[name] === other[name])
}

/** Returns a short text that differs where `areAnsweredAlike` is false. */
export function answeredBy(headers: IncomingHttpHeaders): string {
  return createHash('sha256')
    .update(JSON.stringify(ANSWERED_BY.map((name) => headers[name])))
    .digest('base64url')
}

/** The other headers of a v2 call. */
interface CallHeaders {
  readonly requestId: string
  /** Replaces the client's own. */
  readonly traceparent: string | undefined
  readonly hasBody: boolean
}

/** Returns the headers of a v2 call for a v1 request as alternating names and values. */
export function callHeaders(client: IncomingHttpHeaders, { requestId, traceparent, hasBody }: CallHeaders): string[] {
  const headers = ['accept', 'application/json', 'x-request-id', requestId]
  const trace = traceparent ?? client.traceparent
  if (typeof trace === 'string') headers.push('traceparent', trace)
  for (const name of FORWARDED) {
    const value = client[name]
    if (typeof value === 'string') headers.push(name, value)
  }
  if (hasBody) headers.push('content-type', 'application/json')
  return headers
}
