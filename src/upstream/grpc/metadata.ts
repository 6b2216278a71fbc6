import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import type { ApiError } from '../../errors/api-error.ts'
import { CODES } from '../../errors/codes.ts'
import { grouped, relayable, relayableHeaders } from '../../relay/head.ts'
import { CONNECTION_SPECIFIC } from '../../relay/single-valued.ts'

/**
 * Headers or trailers as they came. Node joins those that stand twice by a comma, which is wrong for binary metadata: they are written
 * as often as they were read.
 */
export function asTheyCame(headers: IncomingHttpHeaders, raw: readonly string[]): OutgoingHttpHeaders {
  if (Object.keys(headers).length === raw.length / 2) return headers
  const values = new Map<string, string[]>()
  for (let at = 0; at < raw.length; at += 2) values.set(raw[at] ?? '', [...(values.get(raw[at] ?? '') ?? []), raw[at + 1] ?? ''])
  const repeated = [...values].filter(([name, all]) => all.length > 1 && headers[name] === all.join(', '))
  return { ...headers, ...Object.fromEntries(repeated) }
}

/** The headers of a call on its way to the service at `url`; everything but the address and what HTTP/2 forbids is the client's. */
export function callTo({ host, protocol }: URL, headers: IncomingHttpHeaders, raw: readonly string[]): OutgoingHttpHeaders {
  const all = Object.entries(asTheyCame(headers, raw)).filter(([name]) => !CONNECTION_SPECIFIC.has(name) || name === 'te')
  return { ...Object.fromEntries(all), ':authority': host, ':scheme': protocol.slice(0, -1) }
}

/** The head of an answer, `raw` with its `:status`, as a client can be given it; else what about it cannot be. */
export function answerHead(raw: readonly string[]): OutgoingHttpHeaders | { readonly problem: string } {
  const status = Number(raw[raw.indexOf(':status') + 1])
  const head = relayable(2, { status, reason: '', headers: withoutPseudo(raw) })
  return 'problem' in head ? head : { ':status': status, ...grouped(head.headers) }
}

/** The same for the trailers after it. */
export function answerTrailers(raw: readonly string[]): OutgoingHttpHeaders | { readonly problem: string } {
  const trailers = relayableHeaders(2, raw)
  return 'problem' in trailers ? trailers : grouped(trailers.headers)
}

function withoutPseudo(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !raw[at - (at % 2)]?.startsWith(':'))
}

/** The status of a call that could not be carried, as trailers. The message is percent-encoded, as gRPC has it. */
export function statusOf({ code, message }: ApiError): OutgoingHttpHeaders {
  return { 'grpc-status': String(CODES[code].number), 'grpc-message': encodeURIComponent(message).replaceAll('%20', ' ') }
}
