import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { FleetReplica } from '../../fleet/exchange.ts'
import { type Client, type ClientNames, createInventory, createUseOf, withoutRequests } from '../../migrate/clients.ts'
import { createExpected, type Declaration, type DeclarationReport } from '../../migrate/compare/expected.ts'
import type { ComparisonOutcome } from '../../migrate/compare/judge.ts'
import {
  type Counted,
  type CutoverVerdict,
  countedIn,
  type EpochView,
  judgeCutover,
  type OperationVerdict,
  STANDING_ORDER,
} from '../../migrate/evidence/cutover.ts'
import {
  count,
  createEvidence,
  many,
  noEvidence,
  OBSERVATION,
  type OperationEvidence,
  percent,
  wrongOf,
} from '../../migrate/evidence/evidence.ts'
import { timeNeeded, uncomparedSentences } from '../../migrate/evidence/standing.ts'
import { type CutoverTerms, type Dismissal, USUAL_TERMS } from '../../migrate/evidence/terms.ts'
import type { Entry, Note, WouldSend } from '../../migrate/records/record.ts'
import { type Ledger, mergedEntries, nothingRead, othersText, type ReadCount, restore } from '../../migrate/records/record-file.ts'
import type { Operation, OperationKind } from '../../tables/operation.ts'
import { DIFFERENCE_KINDS } from '../../tables/signs.ts'
import { DIFFERENCE_STATES, type Difference, isOfRequest, TO_MEND } from './difference.ts'
import { type InForce, OperationHistory } from './history.ts'

/** What a report is made of. */
interface ReportCounts extends Omit<Counted, 'strangers' | 'fleet'> {
  readonly clients: readonly Client[]
}

/** What all replicas of a fleet have counted. */
export interface FleetCounted extends ReportCounts {
  readonly fleet: ReportFleet
}

/**
 * The content of the page and of `--json`. Times are milliseconds since 1970, shares 0–1. All values were redacted when they were recorded.
 */
export interface Report extends Omit<CutoverVerdict, 'operations'> {
  readonly format: typeof FORMAT
  readonly generatedAt: number
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

const FORMAT = 'crosswalk-report-1'

/** The input of the report. */
interface ReadSummary {
  readonly entries: number
  /** Lines that were no entries. */
  readonly skipped: number
  /** Lines whose entry another line had already, because files overlap. */
  readonly repeated: number
  /** Evidence of other tables, or of another v2 build, than the newest entry tells. */
  readonly others: number
  /** Files that are no record files. A report with one is never ready. */
  readonly unreadable: readonly string[]
}

type Judged = Pick<OperationVerdict, 'calls' | 'standing' | 'blocks' | 'reason' | 'target' | 'accepted' | 'missing'>

export interface OperationReport extends Omit<OperationEvidence, 'kinds'>, Judged {
  readonly kind: OperationKind | 'unknown'
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

export interface DeclarationRow extends DeclarationReport {
  /** What a client sees, and why. */
  readonly seen: string
  readonly because: string
}

export interface Timeline {
  /** Length of one step in milliseconds. */
  readonly stepMs: number
  readonly steps: readonly TimeStep[]
  /** Oldest first. */
  readonly notes: readonly (Omit<Note, 'at' | 'kind' | 'id'> & { readonly at: number })[]
}

type Before = Pick<OperationReport, 'standing' | 'n' | 'bound' | 'mismatches' | 'transients' | 'errors'>

interface SinceOlder {
  readonly generatedAt: number
  readonly target: number
  readonly ready: boolean
  /** Differences that no longer occur. */
  readonly gone: readonly (Pick<Difference, 'state' | 'kind' | 'where' | 'code' | 'findings'> & { readonly operation: string })[]
}

/** The texts of a declared difference besides its counts. */
export type Describe = (code: string) => Pick<DeclarationRow, 'seen' | 'because'>

/** What is asked of what was counted. */
interface Asked {
  /** Acceptable share of wrong answers, 0 < target < 1. */
  readonly target: number
  /** Milliseconds since 1970. */
  readonly now: number
  /** True asks whether v1 can be switched off. Default: v1 stays. */
  readonly withoutV1?: boolean
  /** True holds the target against each operation by itself. Default: against all requests together. */
  readonly isStrict?: boolean
  /** What persons decided about the verdict. Default: nothing. */
  readonly terms?: CutoverTerms | undefined
  readonly dismissed?: readonly Dismissal[]
}

interface ReportQuestion extends Asked {
  /** Only a running proxy knows it. */
  readonly inForce?: InForce
  /** What all replicas have counted, in place of what the ledger has. */
  readonly counted?: FleetCounted | undefined
  /** What was read of files; absent for the entries of a running proxy. */
  readonly read?: Omit<ReadCount, 'entries'>
}

/**
 * Gathers what a report needs beyond the ledger: times, examples, notes. Its memory is bounded. The owner of the ledger counts every entry
 * in it; the reporter only reads it.
 */
export function createReporter({
  ledger,
  operations,
  describe,
}: {
  readonly ledger: Ledger
  readonly operations: readonly Operation[]
  readonly describe: Describe
}) {
  const useOf = createUseOf(operations)
  const seen = new OperationHistory()
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let entries = 0
  return {
    /** Takes one entry that the ledger counted as new. */
    add(entry: Entry): void {
      const at = Date.parse(entry.at)
      if (Number.isNaN(at)) return
      entries += 1
      from = Math.min(from, at)
      to = Math.max(to, at)
      if (entry.kind === 'comparison') seen.comparison(entry, at)
      if (entry.kind === 'would-send') seen.unsent(entry)
      if (entry.kind === 'note') seen.note(entry, at)
    },
    report(question: ReportQuestion): Report {
      const {
        target,
        now,
        withoutV1 = false,
        isStrict = false,
        terms = USUAL_TERMS,
        dismissed = [],
        inForce,
        counted,
        read = NO_FILES,
      } = question
      const { evidence, traffic, clients, uncounted, declarations } = counted ?? {
        ...countedIn(ledger),
        clients: ledger.inventory.clients(),
      }
      const { rollouts = [], circuits = {} } = inForce ?? {}
      const openCircuits = new Map(Object.entries(circuits))
      const asked = { target, withoutV1, isStrict, terms: { ...terms, now }, dismissed, operations }
      const strangers = ledger.inventory.strangers()
      const verdict = judgeCutover({ ...asked, evidence, traffic, clients, strangers, openCircuits, rollouts })
      const unread = read.unreadable.map((path) => `${path} is not a record file: most of its lines are not records.`)
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
        ...(verdict.whole && { whole: verdict.whole }),
        ...answerOf(verdict, [...unread, ...(counted?.fleet.problems ?? [])]),
        ...(from <= to && { span: { from, to } }),
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

const NO_FILES = { skipped: 0, repeated: 0, others: 0, unreadable: [] }

function operationReport(
  verdict: OperationVerdict,
  evidence: OperationEvidence | undefined,
  known: Pick<OperationReport, 'kind' | 'calls' | 'modes'>,
  seen: OperationHistory,
): OperationReport {
  const { operation, standing, blocks, reason, needed, target, accepted, missing } = verdict
  const { kinds: _, ...counted } = evidence ?? noEvidence(operation)
  return {
    ...counted,
    ...known,
    standing,
    blocks,
    reason,
    ...(needed !== undefined && { needed }),
    ...(target !== undefined && { target }),
    ...(accepted && { accepted }),
    ...(missing && { missing }),
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

function worstFirst(a: OperationReport, b: OperationReport): number {
  return STANDING_ORDER.indexOf(a.standing) - STANDING_ORDER.indexOf(b.standing) || b.calls + b.comparisons - (a.calls + a.comparisons)
}

export interface ReadSources extends Asked {
  readonly operations: readonly Operation[]
  readonly declarations: readonly Declaration[]
  readonly describe: Describe
  /** The names that persons gave to clients. */
  readonly names?: ClientNames | undefined
}

/**
 * Builds the report of record files. A folder stands for the record files in it. How entries are spread over the files, and how the files
 * overlap, makes no difference. Rejects if a file cannot be read.
 */
export async function readReport(
  paths: readonly string[],
  { operations, declarations, describe, names, now, ...question }: ReadSources,
): Promise<Report> {
  const ledger: Ledger = {
    evidence: createEvidence(() => now),
    inventory: createInventory(operations, () => names),
    expected: createExpected(declarations, () => now),
  }
  const reporter = createReporter({ ledger, operations, describe })
  const count = nothingRead()
  for await (const entry of mergedEntries(await filesIn(paths), count)) {
    const counted = restore(entry, ledger)
    if (counted) reporter.add(counted)
  }
  return reporter.report({ ...question, now, read: count })
}

/** Matches record files, also those that were renamed when they were full. */
const RECORDS = /\.ndjson(?:\.\d+)?$/

async function filesIn(paths: readonly string[]): Promise<readonly string[]> {
  return [...new Set((await Promise.all(paths.map(filesAt))).flat())]
}

async function filesAt(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => RECORDS.test(name))
  if (names.length === 0) throw new Error(`The folder ${path} holds no record file (*.ndjson).`)
  return names.map((name) => join(path, name))
}

/** The replicas that share a store, as the page shows them. */
export interface ReportFleet {
  /** What is missing in the report, in sentences that name the replica. Empty if it is that of all replicas. */
  readonly problems: readonly string[]
  /** Those of `problems` that end by themselves within seconds: comparisons that are under way. */
  readonly busy: readonly string[]
  readonly epoch: EpochView
  /** This replica first. */
  readonly replicas: readonly ReportReplica[]
  /** Replicas of another version of Crosswalk, of which nothing else is known. */
  readonly unread: readonly Pick<ReportReplica, 'id' | 'silentSeconds'>[]
}

/** One process of a fleet. */
export interface ReportReplica
  extends Pick<FleetReplica, 'id' | 'isSelf' | 'since' | 'version' | 'unread' | 'waiting' | 'dropped' | 'lost'> {
  /** It decides about rollouts. */
  readonly isLeader: boolean
  /** How many versions of the modes it lacks. */
  readonly behind: number
  /** The services that it reaches at other addresses than the replica that made the report; absent if there are none. */
  readonly otherServices?: readonly string[]
  /** Seconds since its last heartbeat; absent if it was last heard from lately. */
  readonly silentSeconds?: number
}

/** The parts of an older report that a comparison needs. */
const older = z.object({
  format: z.literal(FORMAT),
  generatedAt: z.number(),
  target: z.number(),
  ready: z.boolean(),
  operations: z.array(
    z.object({
      operation: z.string(),
      standing: z.enum(STANDING_ORDER),
      n: z.number(),
      bound: z.number(),
      mismatches: z.number(),
      transients: z.number().default(0),
      errors: z.number(),
      differences: z.array(
        z.object({
          key: z.string(),
          state: z.enum(DIFFERENCE_STATES),
          kind: z.enum([...DIFFERENCE_KINDS, 'error', 'race', 'inconclusive']),
          where: z.string(),
          code: z.string().optional(),
          findings: z.number(),
        }),
      ),
    }),
  ),
})

type OlderReport = z.infer<typeof older>

/** Reads the JSON text of an older report, or says in one sentence why it is none. */
export function readOlderReport(text: string): OlderReport | { readonly problem: string } {
  try {
    const read = older.safeParse(JSON.parse(text))
    return read.success ? read.data : { problem: 'it is not a report that crosswalk report --json wrote' }
  } catch (error) {
    return { problem: `it is not JSON: ${(error as Error).message}` }
  }
}

/** States of differences whose end is worth reporting. Noise and races come and go. */
const LASTING: ReadonlySet<Difference['state']> = new Set<Difference['state']>(['unexplained', 'failed', 'declared'])

/** Adds to the report what changed since an older one. */
export function heldAgainst(report: Report, { operations, generatedAt, target, ready }: OlderReport): Report {
  const old = new Map(operations.map((operation) => [operation.operation, operation]))
  const seen = new Set(report.operations.flatMap(({ operation, differences }) => differences.map(({ key }) => `${operation}\n${key}`)))
  const gone = operations.flatMap(({ operation, differences }) =>
    differences
      .filter(({ key, state }) => LASTING.has(state) && !seen.has(`${operation}\n${key}`))
      .map(({ state, kind, where, code, findings }) => ({ operation, state, kind, where, ...(code !== undefined && { code }), findings })),
  )
  return {
    ...report,
    operations: report.operations.map((operation) => withBefore(operation, old.get(operation.operation))),
    against: { generatedAt, target, ready, gone },
  }
}

function withBefore(operation: OperationReport, old: OlderReport['operations'][number] | undefined): OperationReport {
  const known = new Set(old?.differences.map(({ key }) => key))
  const differences = operation.differences.map((one): Difference => (known.has(one.key) ? one : { ...one, isNew: true }))
  if (!old) return { ...operation, differences }
  const { standing, n, bound, mismatches, transients, errors } = old
  return { ...operation, differences, before: { standing, n, bound, mismatches, transients, errors } }
}

/** Writes the report as lines for a terminal: the verdict, and one line for each operation and each difference to mend. */
export function reportLines({ operations, declarations, target, ready, read, against, whole }: Report): readonly string[] {
  const inside = operations.filter(({ standing }) => standing === 'inside').length
  const width = Math.max(0, ...operations.map(({ operation }) => operation.length))
  const was = against ? `; the older report was ${against.ready ? 'ready' : 'not ready'}` : ''
  const gone = against?.gone ?? []
  return [
    `${ready ? 'READY' : 'NOT READY'}: ${inside} of ${many(operations.length, 'operation')} inside ${percent(target)}${was} (${many(read.entries, 'record')}${notRead(read)})`,
    ...(whole && whole.requests > 0 ? [whole.reason, whole.when ?? []].flat() : []),
    ...operations.flatMap((one) => [
      rowOf(one, one.target ?? target, width),
      ...toMend(one),
      ...uncomparedSentences(one.uncompared).map((line) => `${INDENT}${line}`),
    ]),
    ...(operations.some(({ needed = 0 }) => needed > 0) ? [OBSERVATION] : []),
    ...declarations.flatMap(ignoredLine),
    ...gone.map(
      ({ operation, kind, where, code }) => `gone          ${operation}  ${kind} ${where}${code === undefined ? '' : ` (${code})`}`,
    ),
  ]
}

/** What the operator ignores, and whether it still explains anything. */
function ignoredLine({ code, state, findings, ignored }: DeclarationRow): readonly string[] {
  if (!ignored) return []
  const end = new Date(ignored.until).toISOString()
  return [`${(state === 'expired' ? 'expired' : 'ignored').padEnd(12)}  ${code}  ${count(findings)}×  until ${end}: ${ignored.reason}`]
}

/** Under the name of an operation. */
const INDENT = ' '.repeat(14)

function notRead(read: ReadSummary): string {
  const { skipped, repeated, others } = read
  const lines = `${skipped === 0 ? '' : `, ${many(skipped, 'line')} skipped`}${repeated === 0 ? '' : `, ${many(repeated, 'line')} repeated`}`
  return others === 0 ? lines : `${lines}, ${othersText(read)}`
}

function rowOf(one: OperationReport, target: number, width: number): string {
  const { operation, standing, n, share, bound, needed, before } = one
  const was = before ? ` (was ${percent(before.bound)})` : ''
  const time = one.perDay === undefined ? '' : `, ${timeNeeded(one, target)}`
  const more = needed === undefined || needed === 0 ? '' : `  ${many(needed, 'observation')} to go${time}`
  const requests = share > 0 ? ` (${percent(share)} of the requests)` : ''
  const evidence = n === 0 ? '' : `  n ${count(n)}  wrong ${count(wrongOf(one))}${requests}  bound ${percent(bound)}${was}`
  const told = one.accepted ? `  accepted until ${one.accepted.until}: ${one.accepted.reason}` : ''
  return `${standing.padEnd(12)}  ${operation.padEnd(width)}${evidence}${more}${told}`.trimEnd()
}

function toMend({ differences }: OperationReport): readonly string[] {
  return differences
    .filter(({ state }) => TO_MEND.has(state))
    .flatMap((one) => [`${INDENT}${one.kind} ${one.where}  ${count(one.comparisons)}×${one.isNew ? '  new' : ''}`, ...lastExample(one)])
}

/** The newest example: its request, its place, and the command that prints it as a test. Records of older versions have no request. */
function lastExample({ state, examples: [newest] }: Difference): readonly string[] {
  if (!newest?.request) return []
  const { request, pointer = '', id } = newest
  const command = state === 'unexplained' && isOfRequest(newest) ? `crosswalk case ${id}` : ''
  return [`${INDENT}  ${[`${request.method} ${request.url}`, pointer, command].filter((part) => part !== '').join('  ')}`]
}
