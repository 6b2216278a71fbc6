import { isWritable } from '../heads.ts'
import { ApiError } from './api-error.ts'
import type { CODES } from './codes.ts'
import { type ErrorForm, STATUS_FORM, type V2Failure } from './error-form.ts'

interface Failed extends V2Failure {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** The headers of a failure that clients act on. All others are dropped. */
const KEPT_HEADERS = ['retry-after', 'www-authenticate'] as const

/**
 * Turns a failed v2 answer into an ApiError: what its body says in the API's form. Any other body (a balancer's HTML page, a truncated
 * body) is INTERNAL, unless its HTTP status has a plain meaning.
 */
export function fromV2({ status, headers, text }: Failed, { read }: Pick<ErrorForm, 'read'> = STATUS_FORM): ApiError {
  const kept: Record<string, string> = {}
  for (const name of KEPT_HEADERS) {
    const value = headers[name]
    if (typeof value === 'string' && isWritable(value)) kept[name] = value
  }
  const said = read({ status, text })
  const options = { headers: kept, cause: text.slice(0, 500), ...(said?.foreign !== false && { foreign: true as const }) }
  if (!said) {
    return new ApiError(PLAIN_STATUS[status] ?? 'INTERNAL', `the v2 service answered HTTP ${status} without an error body`, options)
  }
  const { code, message, details, isLogged } = said
  return new ApiError(code, message, { ...options, details, ...(!isLogged && { cause: undefined }) })
}

/** Statuses with the same meaning in every body: permission, size, rate and outage. */
const PLAIN_STATUS: Readonly<Record<number, keyof typeof CODES>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNAVAILABLE',
  413: 'INVALID_ARGUMENT',
  414: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  431: 'INVALID_ARGUMENT',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const CANNOT_BE_PASSED_ON = 'service sent an answer that cannot be passed on'

/** An answer whose head cannot be relayed to a client; `problem` names the reason (`relayable`). It is logged and never sent. */
export function unrelayable(service: 'v1' | 'v2', problem: string): ApiError {
  return new ApiError('INTERNAL', `the ${service} ${CANNOT_BE_PASSED_ON}`, { cause: problem })
}

export function isUnrelayable({ message }: ApiError): boolean {
  return message.endsWith(CANNOT_BE_PASSED_ON)
}

/** A 2xx v2 answer that is not a JSON object: code 13, HTTP 500 (facts §15). */
export function brokenAnswer(cause: unknown): ApiError {
  return new ApiError('INTERNAL', 'the v2 service sent an answer that is not JSON', { cause })
}

/** A 2xx v2 answer without a required member: a gateway answered in v2's place. Its member names are logged. */
export function notAnswer(body: object): ApiError {
  const members = Object.keys(body).slice(0, 20).join(', ')
  return new ApiError('INTERNAL', 'the v2 service sent an answer without what it must hold', { cause: `members: ${members || 'none'}` })
}

/** Error codes of Node and undici for an expired time limit. */
const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

/** Maps a call without an answer. Time-out: 504; client gone: 499; everything else (refused, reset, DNS, TLS): 503. */
export function fromTransport(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const { code, name } = error as { code?: string; name?: string }
  const options = { cause: error, ...(isUnsent(error) && { unsent: true as const }) }
  if (name === 'TimeoutError' || TIMEOUTS.has(code ?? '')) {
    return new ApiError('DEADLINE_EXCEEDED', 'the v2 service did not answer in time', options)
  }
  if (name === 'AbortError') return new ApiError('CANCELLED', 'the client went away', options)
  return new ApiError('UNAVAILABLE', 'the v2 service cannot be reached', options)
}

/** True if the connection failed before anything could be sent on it: its name is unknown, or nothing answers at its address. */
function isUnsent(error: unknown): boolean {
  const { code, syscall, errors } = error as { code?: string; syscall?: string; errors?: readonly unknown[] }
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo' || errors?.every(isUnsent) === true
}
