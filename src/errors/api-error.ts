import { CODES, type CodeName } from './codes.ts'

/** One typed entry of a google.rpc.Status; `@type` names its type (specification §7). */
export interface Detail {
  readonly '@type': string
  readonly [member: string]: unknown
}

export interface FieldViolation {
  readonly field: string
  readonly description: string
}

interface ErrorOptions {
  readonly details?: readonly Detail[]
  /** Answer headers that belong to the error: `retry-after`, `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>>
  /** The real cause. It is logged and never sent. */
  readonly cause?: unknown
  /** True if a gateway or balancer before the service answered. It knows nothing about the service's resources. */
  readonly foreign?: true
  /** True if no byte of the call reached a service, so that nothing was done. */
  readonly unsent?: true
}

/** Equal in every copy of this module. */
const IS_API_ERROR: unique symbol = Symbol.for('crosswalk.ApiError')

/**
 * The one error of the project: a google.rpc.Status. `message` and `details` reach the client, `cause` only the log.
 * The program is a bundle, and tables of somebody else import modules of the package: `instanceof` knows the errors of either.
 */
export class ApiError extends Error {
  readonly code: CodeName
  readonly details: readonly Detail[]
  readonly headers: Readonly<Record<string, string>>
  readonly foreign: boolean
  readonly unsent: boolean

  constructor(code: CodeName, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.details = options.details ?? []
    this.headers = options.headers ?? {}
    this.foreign = options.foreign === true
    this.unsent = options.unsent === true
  }

  get http(): number {
    return CODES[this.code].http
  }

  get [IS_API_ERROR](): true {
    return true
  }

  static override [Symbol.hasInstance](value: unknown): value is ApiError {
    return typeof value === 'object' && value !== null && IS_API_ERROR in value
  }
}

/**
 * True if the service itself answered with one of these codes. Plans that replace an error ask this.
 * The 403 of a gateway says nothing about a resource and is passed on unchanged.
 */
export function isSaid(error: unknown, ...codes: readonly CodeName[]): error is ApiError {
  return error instanceof ApiError && !error.foreign && codes.includes(error.code)
}

const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest'

/** The maximum number of violations in one error. A small body can hold millions, and each costs work and a line of the answer. */
export const MOST_VIOLATIONS = 100

/** Code 3, HTTP 400: one error for all failing fields, worded by specification §7 rule 1. Callers pass at most `MOST_VIOLATIONS`. */
export function invalidArgument(...violations: readonly FieldViolation[]): ApiError {
  const text = violations.map(({ field, description }) => `${field}: ${description}`).join('; ')
  return new ApiError('INVALID_ARGUMENT', `Invalid argument: ${text}`, { details: [{ '@type': BAD_REQUEST, fieldViolations: violations }] })
}

/** Returns the field violations of a BadRequest detail in order; no other detail has any. */
export function fieldViolations(detail: Detail): readonly FieldViolation[] {
  return detail['@type'] === BAD_REQUEST && Array.isArray(detail.fieldViolations) ? detail.fieldViolations.filter(isViolation) : []
}

function isViolation(value: unknown): value is FieldViolation {
  const violation = value as Partial<FieldViolation> | null
  return typeof violation?.field === 'string' && typeof violation.description === 'string'
}
