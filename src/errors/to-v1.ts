import { ApiError, type Detail, type FieldViolation, fieldViolations, MOST_VIOLATIONS } from './api-error.ts'
import type { CodeName } from './codes.ts'
import { type ErrorForm, STATUS_FORM } from './error-form.ts'

/** What a v1 client gets for a missing resource (facts §14, specification §7 rule 3): an empty answer, an error, or success. */
export type Missing = 'empty' | 'error' | 'done'

export interface V1Manners {
  readonly missing: Missing
  /** The answer of a read that finds nothing, in the client's dialect. */
  readonly empty: unknown
  /** v2 field path → v1 field name, for the violations of a BadRequest. */
  readonly fieldName: (v2Path: string) => string
}

export interface V1Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

type Rule = 'error' | 'nothing'

/** The whole policy: how each code is answered for each value of `missing`. Codes that are not listed are always errors. */
const POLICY: Partial<Record<CodeName, Record<Missing, Rule>>> = {
  NOT_FOUND: { empty: 'nothing', done: 'nothing', error: 'error' },
}

/**
 * Turns an ApiError into v1's answer. Where v1 had no error, that is the empty answer with HTTP 200. Elsewhere it is the gateway's HTTP
 * status and `{code, message, details}`. `notFound: 'error'` (setting `errors.notFound`) passes every NOT_FOUND on as 404.
 */
export function toV1(
  error: ApiError,
  manners: V1Manners,
  notFound: 'empty' | 'error' = 'empty',
  { write }: Pick<ErrorForm, 'write'> = STATUS_FORM,
): V1Error {
  const rule = notFound === 'error' ? 'error' : (POLICY[error.code]?.[manners.missing] ?? 'error')
  if (rule === 'nothing') return { status: 200, headers: {}, body: manners.missing === 'done' ? {} : manners.empty }
  const { message, details } = renamed(error, manners.fieldName)
  return { headers: error.headers, ...write({ code: error.code, http: error.http, message, details }) }
}

/** The same error with v1 field names, in the violations and where the message repeats them. */
function renamed(error: ApiError, fieldName: V1Manners['fieldName']): { message: string; details: readonly Detail[] } {
  const fields: Renamed[] = []
  const details = error.details.map((detail) => {
    const violations = fieldViolations(detail)
    if (violations.length === 0) return detail
    const inV1 = violations.map((violation) => ({ ...violation, field: fieldName(violation.field) }))
    violations.forEach((violation, at) => {
      fields.push({ ...violation, inV1: inV1[at]?.field ?? violation.field })
    })
    return { ...detail, fieldViolations: inV1 }
  })
  return { message: renamedIn(error.message, fields), details }
}

interface Renamed extends FieldViolation {
  readonly inV1: string
}

/** A message repeats its violations in order. One pass over the text therefore finds them all. */
function renamedIn(message: string, fields: readonly Renamed[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { field, description, inV1 } of fields.slice(0, MOST_VIOLATIONS)) {
    const found = message.indexOf(`${field}: ${description}`, at)
    if (found < 0) continue
    pieces.push(message.slice(at, found), inV1)
    at = found + field.length
  }
  return pieces.join('') + message.slice(at)
}

/** Turns any exception into an ApiError. An internal failure becomes INTERNAL and keeps its cause for the log. */
export function asApiError(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError('INTERNAL', 'internal error', { cause: thrown })
}
