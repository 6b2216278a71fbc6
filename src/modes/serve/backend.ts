import type { ClientRequest } from '../../request/request.ts'
import type { Operation } from '../../tables/operations/operation.ts'
import type { Answer } from '../../translate/answer.ts'
import type { Side } from '../choose/mode.ts'

/** An answer, and the side that gave it. */
export interface Served {
  readonly answer: Answer
  readonly by: Side
  /** The tables answered without a call to v2. */
  readonly unasked?: true
  /** v2's failed answer, if v1 answered in its place. */
  readonly failed?: Answer
}

/** Answers v1 requests. There is one backend for v2 and one for v1; modes combine them (design §1). */
export type Backend = (request: ClientRequest) => Promise<Served>

/** GET is v1's only read. Every other method may change something, and reaches exactly one side. */
export function isRead({ method }: Operation): boolean {
  return method === 'GET'
}

/** A 501 says that v1 never had the feature, or that only v1 has it, so it is no failure. */
export function hasFailed(status: number): boolean {
  return status >= 500 && status !== 501
}
