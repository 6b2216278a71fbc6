import { ApiError } from '../../errors/api-error.ts'
import { CODES } from '../../errors/codes.ts'
import type { WireStatus } from '../wire-call.ts'

/** Returns the status of an ApiError without its details, which are JSON; of any other exception, INTERNAL. */
export function failureStatus(thrown: unknown): WireStatus {
  const { code, message } = thrown instanceof ApiError ? thrown : INTERNAL
  return { code: CODES[code].number, message, details: [] }
}

const INTERNAL = { code: 'INTERNAL', message: 'internal error' } as const
