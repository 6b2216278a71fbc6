import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import type { ApiError } from '../../errors.ts'
import { CONNECTION_SPECIFIC, grouped, relayable, relayableHeaders } from '../../heads.ts'
import { grpcTrailers } from '../../wire/status/grpc-trailers.ts'
import { failureStatus } from '../../wire/status/wire-failure.ts'

/** Headers that HTTP/2 forbids. `te: trailers` is not among them. */
const FORBIDDEN = [...CONNECTION_SPECIFIC].filter((name) => name !== 'te')

/**
 * Makes the client's headers those of a call to the service at `url`, in place: a copy would be a tenth of the cost of a call. All stay but the
 * address, another path and those that HTTP/2 forbids.
 */
export function callTo({ host, protocol }: URL, headers: IncomingHttpHeaders, raw: readonly string[], path?: string): OutgoingHttpHeaders {
  separate(headers, raw)
  for (const name of FORBIDDEN) if (headers[name] !== undefined) delete headers[name]
  headers[':authority'] = host
  headers[':scheme'] = protocol === 'https:' ? 'https' : 'http'
  // The log tells the client's path.
  return path === undefined ? headers : { ...headers, ':path': path }
}

/** Node joins repeated headers with a comma, which is wrong for binary metadata. They are written as often as they were read. */
function separate(headers: OutgoingHttpHeaders, raw: readonly string[]): void {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? ''
    const joined = headers[name]
    if (joined === raw[at + 1] || typeof joined !== 'string' || !joined.includes(', ')) continue
    const all = raw.filter((_, index) => index % 2 === 1 && raw[index - 1] === name)
    if (all.length > 1 && joined === all.join(', ')) headers[name] = all
  }
}

/** Returns the head of an answer for a client, or the problem that prevents it; `raw` has what `headers` has, as received. */
export function answerHead(headers: IncomingHttpHeaders, raw: readonly string[]): OutgoingHttpHeaders | { readonly problem: string } {
  const status = Number(headers[':status'])
  if (isPlain(raw) && status >= 200 && status <= 599) return headers
  const head = relayable(2, { status, reason: '', headers: withoutPseudo(raw) })
  return 'problem' in head ? head : { ':status': status, ...grouped(head.headers) }
}

/** The same for the trailers of an answer. */
export function answerTrailers(headers: IncomingHttpHeaders, raw: readonly string[]): OutgoingHttpHeaders | { readonly problem: string } {
  if (isPlain(raw)) return headers
  const trailers = relayableHeaders(2, raw)
  return 'problem' in trailers ? trailers : grouped(trailers.headers)
}

/** Headers of gRPC with characters that every head can hold. */
const PLAIN_NAME = /^:?[a-z\d_.-]+$/
const PLAIN_VALUE = /^[ -~]*$/

/** True if Node's object of these headers can be written as it is: every name is unlike the others, and HTTP/2 carries all. */
function isPlain(raw: readonly string[]): boolean {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? ''
    if (!PLAIN_NAME.test(name) || !PLAIN_VALUE.test(raw[at + 1] ?? '') || CONNECTION_SPECIFIC.has(name)) return false
    for (let other = 0; other < at; other += 2) if (raw[other] === name) return false
  }
  return true
}

function withoutPseudo(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !raw[at - (at % 2)]?.startsWith(':'))
}

/** Returns the trailers of a call that was not relayed. */
export function statusOf(error: ApiError): OutgoingHttpHeaders {
  return grpcTrailers({ status: failureStatus(error) })
}
