import { ApiError, CODES, type CodeName, codeName, RETRY_INFO, retryInfo } from '../../../errors.ts'
import type { RequestRecord } from '../../../serve/core.ts'
import { isRead } from '../../../serve/sides.ts'
import type { Operation } from '../../../tables/operation.ts'
import type { WireReply, WireStatus } from '../../../wire/wire-call.ts'

/** The code of a reply. */
export function codeOf(reply: WireReply): CodeName {
  return 'status' in reply ? codeName(reply.status.code) : 'OK'
}

/** The HTTP status of the same answer over REST. */
export function httpOf(code: CodeName): number {
  return CODES[code].http
}

/** The codes after which clients of gRPC repeat a call, even one that creates something. */
const REPEATED: ReadonlySet<number> = new Set([CODES.UNAVAILABLE.number, CODES.RESOURCE_EXHAUSTED.number])

/** What a status follows from, besides the error. */
interface Circumstances {
  readonly operation: Operation | undefined
  readonly record: Pick<RequestRecord, 'written'>
  /** Headers of the error: `retry-after`. */
  readonly headers: Readonly<Record<string, unknown>>
}

/**
 * Returns the status for a client, with the time after which it may repeat the call. A call whose write may have been done must not be
 * repeated, so that it is UNKNOWN in place of UNAVAILABLE.
 */
export function toldToClient(status: WireStatus, { operation, record, headers }: Circumstances): WireStatus {
  if (!REPEATED.has(status.code)) return status
  if (operation && !isRead(operation) && record.written) {
    const details = status.details.filter(({ type }) => type !== RETRY_INFO)
    return { code: CODES.UNKNOWN.number, message: `${status.message}; this call, or a part of it, may have been done`, details }
  }
  return { ...status, details: [...status.details, ...retryInfo(headers['retry-after'])] }
}

/** Returns the error of a write that was sent as one call: what broke off, or had too long an answer, may have been done. */
export function notToBeRepeated(error: ApiError): ApiError {
  if (error.unsent || !REPEATED.has(CODES[error.code].number)) return error
  return new ApiError('UNKNOWN', `${error.message}; this call may have been done`, { cause: error.cause })
}
