import { ApiError, type Detail, fieldViolations } from './api-error.ts'
import { CODES, type CodeName } from './codes.ts'

/** What a missing resource means to a v1 client (facts §14, specification §7 rule 3): nothing found, an error, or a deed already done. */
export type Missing = 'empty' | 'error' | 'done'

export interface V1Manners {
  readonly missing: Missing
  /** The answer of a read that found nothing, already in the client's dialect. */
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

/** The whole policy: what each code does to the operations whose `missing` says so. Codes that are not listed are always errors. */
const POLICY: Partial<Record<CodeName, Record<Missing, Rule>>> = {
  NOT_FOUND: { empty: 'nothing', done: 'nothing', error: 'error' },
}

/**
 * An ApiError in v1's manners: the empty answer with HTTP 200 where v1 had no error, else the HTTP status of the gateway table and
 * `{code, message, details}`. `notFound: 'error'` (setting `errors.notFound`) passes every NOT_FOUND on as 404.
 */
export function toV1(error: ApiError, manners: V1Manners, notFound: 'empty' | 'error' = 'empty'): V1Error {
  const rule = notFound === 'error' ? 'error' : (POLICY[error.code]?.[manners.missing] ?? 'error')
  if (rule === 'nothing') return { status: 200, headers: {}, body: manners.missing === 'done' ? {} : manners.empty }
  const { message, details } = renamed(error, manners.fieldName)
  return { status: error.http, headers: error.headers, body: { code: CODES[error.code].number, message, details } }
}

/** The same error with every field under its v1 name, in the violations and where the message repeats them. */
function renamed(error: ApiError, fieldName: V1Manners['fieldName']): { message: string; details: readonly Detail[] } {
  let message = error.message
  const details = error.details.map((detail) => {
    const violations = fieldViolations(detail)
    if (violations.length === 0) return detail
    const inV1 = violations.map((violation) => ({ ...violation, field: fieldName(violation.field) }))
    violations.forEach(({ field, description }, at) => {
      message = message.replace(`${field}: ${description}`, () => `${inV1[at]?.field}: ${description}`)
    })
    return { ...detail, fieldViolations: inV1 }
  })
  return { message, details }
}

/** Whatever was thrown, as an ApiError; a failure of our own becomes INTERNAL and keeps its cause for the log. */
export function asApiError(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError('INTERNAL', 'internal error', { cause: thrown })
}
