import type { ApiError, CodeName } from '../../errors.ts'

/** Errors of a write that certainly wrote nothing. Callers without rights get no others. A rate is refused before the work (RFC 6585 §4). */
const REFUSALS: ReadonlySet<CodeName> = new Set<CodeName>([
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'INVALID_ARGUMENT',
  'RESOURCE_EXHAUSTED',
])

/**
 * True if a write that ended with this error may have been done. A 503 does not say whether the service, or a gateway before it, gave up
 * before or after the work.
 */
export function mayHaveWritten({ code, unsent }: ApiError): boolean {
  return !unsent && !REFUSALS.has(code)
}
