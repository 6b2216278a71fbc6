import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** What v2 may answer by, beside the credential: who asks with what, and what a client wants carried along. */
const ANSWERED_BY = ['user-agent', 'baggage', 'cgclientid'] as const

/** What names a request, its trace or its way. It says nothing of what is asked, and hardly two requests have the same. */
const NAMING = ['tracestate', 'cgrequestid', 'cdn-loop'] as const

/** Request headers that a translated call takes over from the v1 request; everything else describes the v1 exchange and stays behind. */
const FORWARDED = ['authorization', ...ANSWERED_BY, ...NAMING] as const

/** Whether v2 has no reason to answer one request otherwise than the other, when both are of one credential. */
export function areAnsweredAlike(one: IncomingHttpHeaders, other: IncomingHttpHeaders): boolean {
  return ANSWERED_BY.every((name) => one[name] === other[name])
}

/** A short text that differs where `areAnsweredAlike` says no. */
export function answeredBy(headers: IncomingHttpHeaders): string {
  return createHash('sha256')
    .update(JSON.stringify(ANSWERED_BY.map((name) => headers[name])))
    .digest('base64url')
}

/** What a v2 call says beside what it takes over. */
interface CallHeaders {
  readonly requestId: string
  /** In place of the client's own. */
  readonly traceparent: string | undefined
  readonly hasBody: boolean
}

/** The headers of a v2 call made for a v1 request, names and values one after the other. */
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
