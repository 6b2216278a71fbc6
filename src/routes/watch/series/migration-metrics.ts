import { Counter, Gauge, type Registry } from 'prom-client'
import type { EvidenceReport, MigrationReport, OperationProgress } from '../../../migrate/migration.ts'

/** Exposes the state of the migration as series. Operations and all other labels are bounded sets. */
export function watchMigration(report: Pick<MigrationReport, 'evidence'>, registers: Registry[]): void {
  type Rows = (evidence: EvidenceReport) => readonly (readonly [labels: Record<string, string>, value: number])[]

  const counter = (name: string, help: string, labelNames: readonly string[], rows: Rows) =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const [labels, value] of rows(report.evidence())) this.inc(labels, value)
      },
    })
  counter('crosswalk_comparisons_total', COMPARISONS, ['operation', 'outcome'], (evidence) =>
    evidence.operations.flatMap((one) =>
      OUTCOMES.map(([outcome, member]) => [{ operation: one.operation, outcome }, one[member]] as const),
    ),
  )
  counter(
    'crosswalk_comparison_jobs_total',
    'Comparisons that were made, failed, or dropped for want of room',
    ['end'],
    ({ queue, skipped }) => [
      [{ end: 'done' }, queue.done],
      [{ end: 'failed' }, queue.failed],
      [{ end: 'dropped' }, skipped.waiting + skipped.perSecond],
    ],
  )
  counter('crosswalk_fallbacks_total', 'Reads that v2 failed, answered by v1 or not for want of budget', ['answered'], ({ fallbacks }) => [
    [{ answered: 'yes' }, fallbacks.taken],
    [{ answered: 'no' }, fallbacks.refused],
  ])
  counter('crosswalk_records_dropped_total', 'Records that could not be written', [], ({ records }) => [[{}, records.dropped]])
  const gauge = (
    name: string,
    help: string,
    rows: (evidence: EvidenceReport) => readonly (readonly [operation: string, value: number])[],
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['operation'],
      registers,
      aggregator: 'max',
      collect() {
        this.reset()
        for (const [operation, value] of rows(report.evidence())) this.set({ operation }, value)
      },
    })
  gauge('crosswalk_circuit_open', OPEN, ({ circuits }) =>
    Object.entries(circuits).map(([operation, { state }]) => [operation, state === 'open' ? 1 : 0] as const),
  )
  gauge('crosswalk_evidence_bound', BOUND, ({ operations }) => operations.map(({ operation, bound }) => [operation, bound] as const))
  gauge('crosswalk_evidence_needed', NEEDED, ({ operations }) => operations.map(({ operation, needed }) => [operation, needed] as const))
}

const COMPARISONS = 'Observations that this process counted, by operation and what the comparison said; of workers the sum'

const OPEN = '1 where an operation is kept from its canary share because v2 answers it wrongly'

const BOUND =
  'Upper end of the 95 % confidence interval for the share of wrong answers of an operation, 0-1, by the observations of this process; of workers the highest'

const NEEDED =
  'Clean observations that an operation still needs, to be proven within the usual target, by the observations of this process; of workers the highest'

const OUTCOMES: readonly (readonly [outcome: string, member: keyof OperationProgress & Member])[] = [
  ['match', 'matches'],
  ['expected', 'expected'],
  ['noise', 'noise'],
  ['race', 'races'],
  ['mismatch', 'mismatches'],
  ['transient', 'transients'],
  ['error', 'errors'],
  ['inconclusive', 'inconclusive'],
]

type Member = 'matches' | 'expected' | 'noise' | 'races' | 'mismatches' | 'transients' | 'errors' | 'inconclusive'
