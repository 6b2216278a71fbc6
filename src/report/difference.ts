import type { Example, Side } from '../diff/records/record.ts'

/** `failed` has no place: v2 gave an error where v1 did not. `open`: nothing could be said. */
export type DifferenceState = 'unexplained' | 'failed' | 'declared' | 'noise' | 'race' | 'open'

/** Findings of one kind at one place of one operation's answers. */
export interface Difference {
  /** Unique within its operation, and the same in the next report. */
  readonly key: string
  readonly state: DifferenceState
  readonly kind: Example['kind'] | 'error' | 'race' | 'inconclusive'
  /** JSON Pointer with `*` for indices and map keys; for what has no place, the reason in words. */
  readonly where: string
  readonly code?: string
  readonly findings: number
  readonly comparisons: number
  readonly callers: number
  readonly firstAt: number
  readonly lastAt: number
  /** Comparisons in each step of time. */
  readonly steps: readonly (readonly [at: number, comparisons: number])[]
  /** Newest first; not more than are kept. */
  readonly examples: readonly ExampleReport[]
  /** It was not in the report that this one is held against. */
  readonly isNew?: true
}

/** One comparison that shows a difference. */
export interface ExampleReport {
  readonly id: string
  readonly at: number
  readonly caller: string
  readonly subject?: string
  readonly mode: string
  readonly shape: string
  readonly check: 'read' | 'after-write'
  /** Exact JSON Pointer, where there is one. */
  readonly pointer?: string
  /** Absent where that side had nothing there. */
  readonly v1?: unknown
  readonly v2?: unknown
  readonly v1Side: Side
  readonly v2Side: Side
  readonly reason?: string
}
