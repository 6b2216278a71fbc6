import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import type { ApiError } from '../../errors/api-error.ts'
import { grouped, relayable, relayableHeaders } from '../../relay/head.ts'
import { CONNECTION_SPECIFIC } from '../../relay/single-valued.ts'
import { grpcTrailers } from '../../wire/status/grpc-trailers.ts'
import { failureStatus } from '../../wire/status/wire-failure.ts'

/**
 * Returns headers or trailers as received. Node joins repeated ones with a comma, which is wrong for binary metadata.
 * They are written as often as they were read.
 */
export function asTheyCame(headers: IncomingHttpHeaders, raw: readonly string[]): OutgoingHttpHeaders {
  if (Object.keys(headers).length === raw.length / 2) return headers
  const values = new Map<string, string[]>()
  for (let at = 0; at < raw.length; at += 2) values.set(raw[at] ?? '', [...(values.get(raw[at] ?? '') ?? []), raw[at + 1] ?? ''])
  const repeated = [...values].filter(([name, all]) => all.length > 1 && headers[name] === all.join(', '))
  return { ...headers, ...Object.fromEntries(repeated) }
}

/** Returns the headers of a call to the service at `url`. All are the client's except the address, another path and those that HTTP/2 forbids. */
export function callTo({ host, protocol }: URL, headers: IncomingHttpHeaders, raw: readonly string[], path?: string): OutgoingHttpHeaders {
  const all = Object.entries(asTheyCame(headers, raw)).filter(([name]) => !CONNECTION_SPECIFIC.has(name) || name === 'te')
  return { ...Object.fromEntries(all), ':authority': host, ':scheme': protocol.slice(0, -1), ...(path !== undefined && { ':path': path }) }
}

/** Returns the head of an answer for a client, or the problem that prevents it; `raw` includes `:status`. */
export function answerHead(raw: readonly string[]): OutgoingHttpHeaders | { readonly problem: string } {
  const status = Number(raw[raw.indexOf(':status') + 1])
  const head = relayable(2, { status, reason: '', headers: withoutPseudo(raw) })
  return 'problem' in head ? head : { ':status': status, ...grouped(head.headers) }
}

/** The same for the trailers of an answer. */
export function answerTrailers(raw: readonly string[]): OutgoingHttpHeaders | { readonly problem: string } {
  const trailers = relayableHeaders(2, raw)
  return 'problem' in trailers ? trailers : grouped(trailers.headers)
}

function withoutPseudo(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !raw[at - (at % 2)]?.startsWith(':'))
}

/** Returns the trailers of a call that was not relayed. */
export function statusOf(error: ApiError): OutgoingHttpHeaders {
  return grpcTrailers({ status: failureStatus(error) })
}
