import { ApiError, type CodeName } from '../../errors.ts'
import type { Service } from '../../serve/upstream/health.ts'

/** Nothing was sent: the client may repeat the call, even a write. */
export function unreachable(service: Service, cause?: unknown): ApiError {
  return new ApiError('UNAVAILABLE', `the ${service} service cannot be reached`, { cause, unsent: true })
}

/**
 * The call was sent, and no answer came. The service may have done what it asks. Clients repeat a call that is UNAVAILABLE, so UNKNOWN
 * tells them not to.
 */
export function brokenOff(service: Service): ApiError {
  return new ApiError('UNKNOWN', `the ${service} service broke off during the call, which may have been done`)
}

/** The process stops before the answer is whole. */
export function stopped(): ApiError {
  return new ApiError('UNKNOWN', 'Crosswalk stopped before the call was answered; it may have been done')
}

/** A unary answer is held as a whole, so that it is bounded. */
export function tooLong(service: Service, limit: number): ApiError {
  return new ApiError('RESOURCE_EXHAUSTED', `the ${service} service sent an answer of more than limits.answerBytes (${limit})`)
}

/** The sentence about a service that answers, but not as a gRPC service. */
function saysNoGrpc(service: Service): string {
  return `the ${service} service does not speak gRPC; set upstream.${service}Grpc to rest if it speaks REST`
}

/**
 * The meaning of an HTTP status without gRPC. A gateway of the service answered. If it lost the service, it may have passed the call on
 * before, so that the code is not UNAVAILABLE.
 */
const HTTP_CODES: Readonly<Record<number, CodeName>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'UNKNOWN',
  502: 'UNKNOWN',
  503: 'UNKNOWN',
  504: 'UNKNOWN',
}

/** The error of an answer that is not gRPC. */
export function foreignAnswer(service: Service, status: number): ApiError {
  const code = HTTP_CODES[status]
  if (code === undefined) return new ApiError('UNIMPLEMENTED', saysNoGrpc(service), { cause: `HTTP ${status}` })
  return new ApiError(code, `the ${service} service answered HTTP ${status} without gRPC`)
}

/** Codes of Node for the first bytes of a service that does not speak HTTP/2, or refuses to over TLS. */
const OTHER_PROTOCOL = new Set(['ERR_HTTP2_ERROR', 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'])

/**
 * What such a connection means. v2 is expected to speak gRPC, so that the fault may pass. v1 may well be older than its gRPC clients: for
 * them the method is missing.
 */
const NO_HTTP2 = { v2: 'UNAVAILABLE', v1: 'UNIMPLEMENTED' } as const

/** The error of a connection that was never ready. */
export function notReady(service: Service, cause: Error): ApiError {
  const { code } = cause as { code?: string }
  if (!OTHER_PROTOCOL.has(code ?? '')) return unreachable(service, cause)
  return new ApiError(NO_HTTP2[service], saysNoGrpc(service), { cause, unsent: true })
}
