import type { IncomingHttpHeaders } from 'node:http'

/** Request headers that a translated call takes over from the v1 request; everything else describes the v1 exchange and stays behind. */
const FORWARDED = ['authorization', 'user-agent', 'tracestate', 'baggage', 'cgclientid', 'cgrequestid'] as const

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
