import { type Client, createUseOf, withoutRequests } from '../migrate/clients.ts'
import { type CutoverVerdict, judgeCutover, type OperationVerdict, type Standing } from '../migrate/evidence/cutover.ts'
import { noEvidence, type OperationEvidence } from '../migrate/evidence/evidence.ts'
import type { Entry } from '../migrate/records/record.ts'
import type { Ledger, ReadCount } from '../migrate/records/record-file.ts'
import type { Operation } from '../tables/operation.ts'
import { countedBy, type FleetCounted } from './fleet/fleet-counted.ts'
import type { InForce } from './in-force.ts'
import { createOperationHistory, type OperationHistory } from './operation-history.ts'
import { type DeclarationRow, FORMAT, type OperationReport, type Report } from './report.ts'

/** The texts of a declared difference besides its counts. */
export type Describe = (code: string) => Pick<DeclarationRow, 'seen' | 'because'>

export interface ReporterSources {
  /** Its owner counts every entry in it. The reporter only reads it. */
  readonly ledger: Ledger
  readonly operations: readonly Operation[]
  readonly describe: Describe
}

export interface ReportQuestion {
  /** Acceptable share of wrong answers, 0 < target < 1. */
  readonly target: number
  /** Milliseconds since 1970. */
  readonly now: number
  /** True asks whether v1 can be switched off. Default: v1 stays. */
  readonly withoutV1?: boolean
  /** Only a running proxy knows it. */
  readonly inForce?: InForce
  /** What all replicas have counted, in place of what the ledger has. */
  readonly counted?: FleetCounted | undefined
  /** What was read of files; absent for the entries of a running proxy. */
  readonly read?: Omit<ReadCount, 'entries'>
}

/** Gathers what a report needs beyond the ledger: times, examples, notes. Its memory is bounded. */
export interface Reporter {
  /** Takes one entry that the ledger counted as new. */
  add(entry: Entry): void
  report(question: ReportQuestion): Report
}

export function createReporter({ ledger, operations, describe }: ReporterSources): Reporter {
  const useOf = createUseOf(operations)
  const seen = createOperationHistory()
  const times = createSpan()
  let entries = 0
  return {
    add(entry) {
      const at = Date.parse(entry.at)
      if (Number.isNaN(at)) return
      entries += 1
      times.add(at)
      if (entry.kind === 'comparison') seen.comparison(entry, at)
      if (entry.kind === 'would-send') seen.unsent(entry)
      if (entry.kind === 'note') seen.note(entry, at)
    },
    report({ target, now, withoutV1 = false, inForce, counted, read = NO_FILES }) {
      const { evidence, traffic, clients, uncounted, declarations } = counted ?? countedBy(ledger)
      const { rollouts = [], circuits = {} } = inForce ?? {}
      const openCircuits = new Map(Object.entries(circuits))
      const verdict = judgeCutover({ target, withoutV1, evidence, traffic, clients, openCircuits, rollouts, operations })
      const unread = read.unreadable.map((path) => `${path} is no record file: most of its lines are no records.`)
      const evidenceOf = new Map(evidence.map((one) => [one.operation, one]))
      const modes = modesByOperation(clients)
      const rows = verdict.operations.map((one): OperationReport => {
        const known = { kind: useOf(one.operation)?.kind ?? 'unknown', calls: one.calls } as const
        return operationReport(one, evidenceOf.get(one.operation), { ...known, modes: modes.get(one.operation) ?? [] }, seen)
      })
      return {
        format: FORMAT,
        generatedAt: now,
        target,
        withoutV1,
        ...answerOf(verdict, [...unread, ...(counted?.fleet.problems ?? [])]),
        ...times.span(),
        read: { ...read, entries },
        operations: rows.sort(worstFirst),
        declarations: declarations.map((row) => ({ ...row, ...describe(row.code) })),
        clients: clients.map(withoutRequests),
        uncounted,
        timeline: seen.timeline(),
        ...(inForce && { now: inForce }),
        ...(counted && { fleet: counted.fleet }),
      }
    },
  }
}

/** What could not be read may have been a mismatch, so the answer is then no. */
function answerOf({ ready, reasons }: CutoverVerdict, unread: readonly string[]): Pick<Report, 'ready' | 'reasons'> {
  return unread.length === 0 ? { ready, reasons } : { ready: false, reasons: ready ? unread : [...unread, ...reasons] }
}

const NO_FILES = { skipped: 0, repeated: 0, unreadable: [] }

/** Keeps the times of the first and the last entry. */
function createSpan() {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return {
    add(at: number) {
      from = Math.min(from, at)
      to = Math.max(to, at)
    },
    span: (): Pick<Report, 'span'> => (from > to ? {} : { span: { from, to } }),
  }
}

type Known = Pick<OperationReport, 'kind' | 'calls' | 'modes'>

function operationReport(
  verdict: OperationVerdict,
  evidence: OperationEvidence | undefined,
  known: Known,
  seen: OperationHistory,
): OperationReport {
  const { operation, standing, blocks, reason, needed } = verdict
  return {
    ...(evidence ?? noEvidence(operation)),
    ...known,
    standing,
    blocks,
    reason,
    ...(needed !== undefined && { needed }),
    ...seen.of(operation),
  }
}

function modesByOperation(clients: readonly Client[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  for (const { operation, modes } of clients.flatMap(({ operations }) => operations)) {
    found.set(operation, [...new Set([...(found.get(operation) ?? []), ...modes])].sort())
  }
  return found
}

const RANKS: readonly Standing[] = ['outside', 'inconclusive', 'v1-only', 'unverifiable', 'inside']

function worstFirst(a: OperationReport, b: OperationReport): number {
  return RANKS.indexOf(a.standing) - RANKS.indexOf(b.standing) || b.calls + b.comparisons - (a.calls + a.comparisons)
}
