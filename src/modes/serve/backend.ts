import type { ClientRequest } from '../../request/request.ts'
import type { Operation } from '../../tables/operations/operation.ts'
import type { Answer } from '../../translate/answer.ts'
import type { Side } from '../choose/mode.ts'

/** An answer, and who gave it. */
export interface Served {
  readonly answer: Answer
  readonly by: Side
  /** The tables answered without a call: v2 was not asked. */
  readonly unasked?: true
  /** v2's answer that the client was spared. */
  readonly failed?: Answer
}

/** Answers v1 requests. There are two, translated (v2) and legacy (v1); modes are made by combining them (design §1). */
export type Backend = (request: ClientRequest) => Promise<Served>

/** v1 has no read but GET; everything else may change something, and reaches exactly one side. */
export function isRead({ method }: Operation): boolean {
  return method === 'GET'
}

/** 501 says what v1 never had or what only v1 has: nothing failed. */
export function hasFailed(status: number): boolean {
  return status >= 500 && status !== 501
}
