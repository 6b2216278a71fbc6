import type { OperationKind } from '../../tables/operation.ts'
import type { Format } from '../traffic/recorded-traffic.ts'

/** What recorded traffic would meet. Requests are counted; times are milliseconds since 1970. */
export interface Replayed {
  readonly format: Format
  readonly requests: number
  /** Lines or entries that could not be read. */
  readonly unreadable: number
  /** The numbers of the first such lines, from 1. */
  readonly unreadableLines: readonly number[]
  readonly span?: { readonly from: number; readonly to: number }
  readonly coverage: Coverage
  readonly assumptions: readonly string[]
  readonly v2: V2Cost
  readonly operations: readonly ReplayedOperation[]
  readonly differences: readonly DifferenceRow[]
  readonly unknown: readonly UnknownRow[]
  readonly clients: readonly ClientRow[]
  /** Requests of clients beyond those that are told apart. */
  readonly uncounted: number
}

export interface Coverage {
  /** Requests that v2 answers. */
  readonly served: number
  /** Requests that need a v1 service. */
  readonly v1Only: number
  /** Requests whose operation v1 does not have either. */
  readonly unknown: number
  /** Requests outside v1, which go to v2 unchanged. */
  readonly native: number
}

export interface V2Cost {
  readonly calls: number
  /** The calls that are saved while an answer is kept. */
  readonly kept: number
  /** The minute with the most calls; absent if the traffic has no times. */
  readonly peak?: { readonly at: number; readonly requests: number; readonly calls: number }
}

export interface ReplayedOperation {
  readonly operation: string
  readonly kind: OperationKind
  readonly requests: number
  readonly v2Calls: number
  /** Requests that are refused before v2 is asked, because the query or the body is wrong. */
  readonly refused: number
  /** Query parameters that v1 ignored too, by name. */
  readonly droppedParameters: Readonly<Record<string, number>>
  /** Members of bodies that are not sent to v2, with the reason. */
  readonly droppedMembers: Readonly<Record<string, number>>
  readonly differences: readonly string[]
  readonly because?: string
}

export interface DifferenceRow {
  readonly code: string
  /** Requests of operations that may show it. */
  readonly requests: number
  readonly seen: string
}

export interface UnknownRow {
  readonly method: string
  readonly path: string
  readonly why: string
  readonly requests: number
}

export interface ClientRow {
  readonly client: string
  readonly requests: number
  readonly served: number
  readonly v1Only: number
  /** Requests that no table has. */
  readonly unknown: number
  /** Unknown requests that v1 did not answer with success, as far as it is recorded. */
  readonly unclear: number
  readonly v2Calls: number
  /** What it uses and only v1 answers: v1-only operations, and unknown requests that v1 answered with success. */
  readonly blockers: readonly string[]
}
