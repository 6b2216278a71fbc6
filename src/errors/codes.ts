/** The 17 canonical codes of google.rpc and the HTTP status that a gRPC gateway gives each (facts §15, semantics §4.2). */
export const CODES = {
  OK: { number: 0, http: 200 },
  CANCELLED: { number: 1, http: 499 },
  UNKNOWN: { number: 2, http: 500 },
  INVALID_ARGUMENT: { number: 3, http: 400 },
  DEADLINE_EXCEEDED: { number: 4, http: 504 },
  NOT_FOUND: { number: 5, http: 404 },
  ALREADY_EXISTS: { number: 6, http: 409 },
  PERMISSION_DENIED: { number: 7, http: 403 },
  RESOURCE_EXHAUSTED: { number: 8, http: 429 },
  FAILED_PRECONDITION: { number: 9, http: 400 },
  ABORTED: { number: 10, http: 409 },
  OUT_OF_RANGE: { number: 11, http: 400 },
  UNIMPLEMENTED: { number: 12, http: 501 },
  INTERNAL: { number: 13, http: 500 },
  UNAVAILABLE: { number: 14, http: 503 },
  DATA_LOSS: { number: 15, http: 500 },
  UNAUTHENTICATED: { number: 16, http: 401 },
} as const

export type CodeName = keyof typeof CODES

const byNumber = new Map<number, CodeName>(Object.entries(CODES).map(([name, { number }]) => [number, name as CodeName]))

/** Returns the name of a google.rpc code number; UNKNOWN for any other number. */
export function codeName(number: unknown): CodeName {
  return (typeof number === 'number' && byNumber.get(number)) || 'UNKNOWN'
}
