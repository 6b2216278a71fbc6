import type { Client } from '../migrate/clients.ts'
import type { DeclarationState, Ignored } from '../migrate/compare/expected.ts'
import type { ComparisonOutcome } from '../migrate/compare/judge.ts'
import type { Standing } from '../migrate/evidence/cutover.ts'
import type { OperationEvidence } from '../migrate/evidence/evidence.ts'
import type { Note, WouldSend } from '../migrate/records/record.ts'
import type { OperationKind } from '../tables/operation.ts'
import type { Difference } from './difference.ts'
import type { ReportFleet } from './fleet/report-fleet.ts'
import type { InForce } from './in-force.ts'

/**
 * The content of the page and of `--json`. Times are milliseconds since 1970, shares 0–1. All values were redacted when they were recorded.
 */
export interface Report {
  readonly format: typeof FORMAT
  readonly generatedAt: number
  /** Acceptable share of wrong answers. */
  readonly target: number
  /** True if the question was whether v1 can be switched off. False: whether v2 can serve what it has, while v1 stays. */
  readonly withoutV1: boolean
  readonly ready: boolean
  readonly reasons: readonly string[]
  /** Times of the first and the last entry; absent if there was none. */
  readonly span?: { readonly from: number; readonly to: number }
  readonly read: ReadSummary
  readonly operations: readonly OperationReport[]
  readonly declarations: readonly DeclarationRow[]
  readonly clients: readonly Client[]
  /** Calls of clients beyond those that are told apart. */
  readonly uncounted: number
  readonly timeline: Timeline
  /** What the proxy does now; absent in a report of record files. */
  readonly now?: InForce
  /**
   * The replicas that share a store; absent without one. The counts of operations, clients and declared differences are then those of all of
   * them. Times, examples and notes are those of this replica, and of the others as far as they are shared.
   */
  readonly fleet?: ReportFleet
  /** The older report with which this one is compared. */
  readonly against?: SinceOlder
}

export const FORMAT = 'crosswalk-report-1'

/** The input of the report. */
export interface ReadSummary {
  readonly entries: number
  /** Lines that were no entries. */
  readonly skipped: number
  /** Lines whose entry another line had already, because files overlap. */
  readonly repeated: number
  /** Files that are no record files. A report with one is never ready. */
  readonly unreadable: readonly string[]
}

export interface OperationReport extends OperationEvidence {
  readonly kind: OperationKind | 'unknown'
  /** Requests of clients, compared or not. */
  readonly calls: number
  readonly standing: Standing
  /** True if it keeps the report from being ready. */
  readonly blocks: boolean
  readonly reason: string
  /** Clean observations until the bound reaches the target; absent for operations that v2 cannot answer. */
  readonly needed?: number
  /** Modes that served it. */
  readonly modes: readonly string[]
  /** The bound at the end of each time step. */
  readonly trend: readonly TrendPoint[]
  /** Outcomes in each time step. */
  readonly steps: readonly TimeStep[]
  readonly latency?: { readonly v1: Quantiles; readonly v2: Quantiles }
  readonly differences: readonly Difference[]
  /** Differences beyond those that are told apart. */
  readonly furtherDifferences: number
  /** The last v2 calls that writes would have made. */
  readonly wouldSend: readonly Pick<WouldSend, 'at' | 'mode' | 'shape' | 'call'>[]
  readonly writes: number
  /** The same operation in the older report. */
  readonly before?: Before
}

export interface TrendPoint {
  readonly at: number
  readonly n: number
  readonly bad: number
  readonly bound: number
}

/** Outcomes in one time step, which begins at `at`. Outcomes that did not occur are left out. */
export interface TimeStep {
  readonly at: number
  readonly outcomes: Partial<Readonly<Record<ComparisonOutcome, number>>>
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
  /** Given if the operator ignores it: the setting `diff.ignore`. */
  readonly ignored?: Ignored
}

export interface Timeline {
  /** Length of one step in milliseconds. */
  readonly stepMs: number
  readonly steps: readonly TimeStep[]
  /** Oldest first. */
  readonly notes: readonly (Omit<Note, 'at' | 'kind' | 'id'> & { readonly at: number })[]
}

export type Before = Pick<OperationReport, 'standing' | 'n' | 'bound' | 'mismatches' | 'transients' | 'errors'>

export interface SinceOlder {
  readonly generatedAt: number
  readonly target: number
  readonly ready: boolean
  /** Differences that no longer occur. */
  readonly gone: readonly (Pick<Difference, 'state' | 'kind' | 'where' | 'code' | 'findings'> & { readonly operation: string })[]
}
