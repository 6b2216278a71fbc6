import type { Client } from '../diff/clients/inventory.ts'
import type { Standing } from '../diff/evidence/cutover.ts'
import type { OperationEvidence } from '../diff/evidence/evidence.ts'
import type { DeclarationState } from '../diff/judge/expected.ts'
import type { Outcome } from '../diff/judge/judge.ts'
import type { Note, WouldSend } from '../diff/records/record.ts'
import type { Kind as OperationKind } from '../tables/operations/operation.ts'
import type { Difference } from './difference.ts'

/** Everything that the page shows and `--json` prints. Times are milliseconds since 1970, shares 0–1; all of it was redacted when recorded. */
export interface Report {
  readonly format: typeof FORMAT
  readonly generatedAt: number
  /** Share of wrong answers that is acceptable. */
  readonly target: number
  readonly ready: boolean
  readonly reasons: readonly string[]
  /** Times of the first and the last entry; absent when there was none. */
  readonly span?: { readonly from: number; readonly to: number }
  readonly read: ReadSummary
  readonly operations: readonly OperationReport[]
  readonly declarations: readonly DeclarationRow[]
  readonly clients: readonly Client[]
  /** Calls of clients that came after the ones that are kept apart. */
  readonly uncounted: number
  readonly timeline: Timeline
  /** The report that this one is held against. */
  readonly against?: Against
}

export const FORMAT = 'crosswalk-report-1'

/** What the report was made of. */
export interface ReadSummary {
  readonly entries: number
  /** Lines that were no entries. */
  readonly skipped: number
}

export interface OperationReport extends OperationEvidence {
  readonly kind: OperationKind | 'unknown'
  /** Requests of clients, compared or not. */
  readonly calls: number
  readonly standing: Standing
  readonly reason: string
  /** Clean observations until the bound is the target; absent for what v2 cannot answer. */
  readonly needed?: number
  /** Modes that served it. */
  readonly modes: readonly string[]
  /** The bound as it stood at the end of each step of time. */
  readonly trend: readonly TrendPoint[]
  /** Outcomes in each step of time. */
  readonly steps: readonly TimeStep[]
  readonly latency?: { readonly v1: Quantiles; readonly v2: Quantiles }
  readonly differences: readonly Difference[]
  /** Differences that came after as many others as are kept apart. */
  readonly furtherDifferences: number
  /** The last calls of v2 that a write would have made. */
  readonly wouldSend: readonly Pick<WouldSend, 'at' | 'mode' | 'shape' | 'call'>[]
  readonly writes: number
  /** How it stood in the report that this one is held against. */
  readonly before?: Before
}

export interface TrendPoint {
  readonly at: number
  readonly n: number
  readonly bad: number
  readonly bound: number
}

/** Outcomes from `at` on for as long as a step of the timeline lasts. Those that did not occur are left out. */
export interface TimeStep {
  readonly at: number
  readonly outcomes: Partial<Readonly<Record<Outcome, number>>>
}

/** Milliseconds. */
export interface Quantiles {
  readonly p50: number
  readonly p95: number
}

export interface DeclarationRow {
  readonly code: string
  readonly state: DeclarationState
  readonly findings: number
  readonly comparisons: number
  /** What a client sees, and why. */
  readonly seen: string
  readonly because: string
}

export interface Timeline {
  /** Length of one step in milliseconds. */
  readonly stepMs: number
  readonly steps: readonly TimeStep[]
  /** Oldest first. */
  readonly notes: readonly (Omit<Note, 'at' | 'kind'> & { readonly at: number })[]
}

export type Before = Pick<OperationReport, 'standing' | 'n' | 'bound' | 'mismatches' | 'errors'>

export interface Against {
  readonly generatedAt: number
  readonly target: number
  readonly ready: boolean
  /** Differences that are not seen any more. */
  readonly gone: readonly (Pick<Difference, 'state' | 'kind' | 'where' | 'code' | 'findings'> & { readonly operation: string })[]
}
