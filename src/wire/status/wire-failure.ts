import { ApiError, CODES, retryInfo } from '../../errors.ts'
import type { WireStatus } from '../wire-call.ts'

/**
 * Returns the status of an ApiError, with the time after which a client may ask again but without its details, which are JSON. Any other
 * exception is INTERNAL.
 */
export function failureStatus(thrown: unknown): WireStatus {
  const { code, message, headers } = thrown instanceof ApiError ? thrown : INTERNAL
  return { code: CODES[code].number, message, details: retryInfo(headers['retry-after']) }
}

const INTERNAL = new ApiError('INTERNAL', 'internal error')
