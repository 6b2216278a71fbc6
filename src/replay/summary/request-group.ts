import type { DroppedMember } from '../../explain/dropped.ts'
import type { Operation } from '../../tables/operation.ts'
import type { Cost } from '../cost.ts'

/** One or several requests that are alike. */
export interface RequestGroup {
  readonly times: number
  readonly client?: string | undefined
  /** Milliseconds since 1970. A sum over a period has none. */
  readonly at?: number | undefined
}

/** Requests of an operation; the cost is that of one request, and may be a mean. */
export interface OperationRequests extends RequestGroup {
  readonly operation: Operation
  readonly cost: Cost
  readonly droppedParameters?: readonly string[]
  readonly droppedMembers?: readonly DroppedMember[]
}

/** Most requests first. */
export function byRequests(a: { readonly requests: number }, b: { readonly requests: number }): number {
  return b.requests - a.requests
}
