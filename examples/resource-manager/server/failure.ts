/** The codes of google.rpc that the service answers with, and their HTTP statuses. */
const STATUSES = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
} as const

/** An error answer: `new Failure('NOT_FOUND', 'there is no such lien')`. `field` adds a violation. */
export class Failure extends Error {
  readonly status: number
  readonly body: unknown

  constructor(code: keyof typeof STATUSES, message: string, field?: string) {
    super(message)
    this.status = STATUSES[code]
    const fieldViolations = [{ field, description: message }]
    const details = field === undefined ? {} : { details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }] }
    this.body = { error: { code: this.status, message, status: code, ...details } }
  }
}
