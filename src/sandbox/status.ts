/**
 * The only way to fail: an Error with the content of a google.rpc.Status (specification §7, semantics §4). Handlers throw one through the
 * functions below. `http/dispatch.ts` renders it, because only there the service's domain is known.
 */

/** google.rpc codes by name, with the HTTP status of the gateway (semantics §4.2) and the start of the message. */
export const CODES = {
  CANCELLED: { code: 1, http: 499, prefix: 'Cancelled: ' },
  UNKNOWN: { code: 2, http: 500, prefix: 'Unknown: ' },
  INVALID_ARGUMENT: { code: 3, http: 400, prefix: 'Invalid argument: ' },
  DEADLINE_EXCEEDED: { code: 4, http: 504, prefix: 'Deadline exceeded: ' },
  NOT_FOUND: { code: 5, http: 404, prefix: 'Not found: ' },
  ALREADY_EXISTS: { code: 6, http: 409, prefix: 'Already exists: ' },
  PERMISSION_DENIED: { code: 7, http: 403, prefix: 'Permission denied: ' },
  RESOURCE_EXHAUSTED: { code: 8, http: 429, prefix: 'Resource exhausted: ' },
  FAILED_PRECONDITION: { code: 9, http: 400, prefix: 'Precondition failed: ' },
  ABORTED: { code: 10, http: 409, prefix: 'Aborted: ' },
  OUT_OF_RANGE: { code: 11, http: 400, prefix: 'Out of range: ' },
  UNIMPLEMENTED: { code: 12, http: 501, prefix: 'Unimplemented: ' },
  INTERNAL: { code: 13, http: 500, prefix: 'Internal: ' },
  UNAVAILABLE: { code: 14, http: 503, prefix: 'Unavailable: ' },
  DATA_LOSS: { code: 15, http: 500, prefix: 'Data loss: ' },
  UNAUTHENTICATED: { code: 16, http: 401, prefix: 'Unauthenticated: ' },
} as const

export type CodeName = keyof typeof CODES

/** An invalid member. `field` is its proto path relative to the resource (`name`, `claim_match.issuer`). */
export type FieldViolation = { readonly field: string; readonly description: string }

/** A reason for which a request is blocked. */
export type PreconditionViolation = { readonly type: string; readonly description: string; readonly subject?: string }

/** A resource type without its domain: `<service>.<Message>`, e.g. `registry.Repo`. */
export type ResourceType = `${string}.${string}`

/** The detail beside ErrorInfo, before rendering. */
export type Detail =
  | { readonly kind: 'badRequest'; readonly fieldViolations: readonly FieldViolation[] }
  | { readonly kind: 'resource'; readonly type: ResourceType; readonly name: string }
  | { readonly kind: 'precondition'; readonly violations: readonly PreconditionViolation[] }

/** The content of the error. `reason` false: the gateway refused before the service, so the details stay empty (semantics §4.1). */
export type Status = { readonly code: CodeName; readonly message: string; readonly reason: boolean; readonly details: readonly Detail[] }

type StatusError = Error & { readonly status: Status }

const statusError = (status: Status): StatusError => Object.assign(new Error(status.message), { status })

/** True if `error` came from this file. */
export const isStatusError = (error: unknown): error is StatusError => error instanceof Error && 'status' in error

const raise = (code: CodeName, text: string, details: readonly Detail[] = []): never => {
  throw statusError({ code, message: CODES[code].prefix + text, reason: true, details })
}

/** 400 code 3 with every failing field: `Invalid argument: <field>: <description>; …`. */
export const invalidArgument = (fieldViolations: readonly FieldViolation[]): never =>
  raise('INVALID_ARGUMENT', fieldViolations.map(({ field, description }) => `${field}: ${description}`).join('; '), [
    { kind: 'badRequest', fieldViolations },
  ])

/** `invalidArgument` for one field. */
export const invalidField = (field: string, description: string): never => invalidArgument([{ field, description }])

/** 404 code 5 with ResourceInfo: `Not found: Repo "<uid>"`. */
export const notFound = (type: ResourceType, name: string): never =>
  raise('NOT_FOUND', `${shortType(type)} ${JSON.stringify(name)}`, [{ kind: 'resource', type, name }])

/** 409 code 6 with ResourceInfo: `Already exists: Repo "<name>"`. */
export const alreadyExists = (type: ResourceType, name: string): never =>
  raise('ALREADY_EXISTS', `${shortType(type)} ${JSON.stringify(name)}`, [{ kind: 'resource', type, name }])

/** 400 code 9 with PreconditionFailure; the violations' descriptions follow `Precondition failed: `. */
export const failedPrecondition = (violations: readonly PreconditionViolation[]): never =>
  raise('FAILED_PRECONDITION', violations.map(({ description }) => description).join('; '), [{ kind: 'precondition', violations }])

/** 403 code 7. */
export const permissionDenied = (text = 'missing capability'): never => raise('PERMISSION_DENIED', text)

/** 401 code 16. */
export const unauthenticated = (): never => raise('UNAUTHENTICATED', 'missing or invalid token')

/** 409 code 10, e.g. a stale etag. */
export const aborted = (text: string): never => raise('ABORTED', text)

/** 429 code 8. */
export const resourceExhausted = (text: string): never => raise('RESOURCE_EXHAUSTED', text)

/** A code with the literal `message` and no details: the gateway's answer before it calls the service. */
export const gatewayError = (code: CodeName, message: string): never => {
  throw statusError({ code, message, reason: false, details: [] })
}

/** 400 code 3 of the gateway: malformed JSON, a wrong type in a body, a malformed query value. */
export const malformed = (message: string): never => gatewayError('INVALID_ARGUMENT', message)

const shortType = (type: ResourceType): string => type.slice(type.indexOf('.') + 1)
