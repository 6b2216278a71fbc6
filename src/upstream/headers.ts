import type { IncomingHttpHeaders } from 'node:http'

/** Request headers that a translated call takes over from the v1 request; everything else describes the v1 exchange and stays behind. */
const FORWARDED = ['authorization', 'user-agent', 'traceparent', 'tracestate', 'baggage', 'cgclientid', 'cgrequestid'] as const

/** The headers of a v2 call made for a v1 request. */
export function callHeaders(client: IncomingHttpHeaders, requestId: string, hasBody: boolean): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json', 'x-request-id': requestId }
  for (const name of FORWARDED) {
    const value = client[name]
    if (typeof value === 'string') headers[name] = value
  }
  if (hasBody) headers['content-type'] = 'application/json'
  return headers
}
