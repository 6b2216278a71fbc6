import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { ComparisonOutcome } from '../../migrate/compare/judge.ts'
import { count, many } from '../../migrate/evidence/evidence.ts'
import { shapeOf } from '../../migrate/evidence/standing.ts'
import type { Journal } from '../../migrate/modes/journal.ts'
import { pageTokenOf } from '../../migrate/modes/select.ts'
import { type Ask, compareRead, provingBy } from '../../migrate/observe/compare-read.ts'
import type { Rehearsed } from '../../migrate/observe/observer.ts'
import { identify } from '../../serve/request.ts'
import { isRead } from '../../serve/sides.ts'
import type { Mapping, Operation, V1Request } from '../../tables/operation.ts'
import type { JunitCase } from '../markup.ts'
import { createRouteRecorded } from './replay.ts'
import type { Replayed } from './summary.ts'
import type { Traffic } from './traffic.ts'

interface AgainstSettings {
  readonly mappings: readonly Mapping[]
  /** Asks either side. Both get the same token, and reads only. */
  readonly ask: Ask
  readonly journal: Journal
  /** Sent with every request. It is neither printed nor recorded. */
  readonly token: string
  /** Maximum reads in all, and per second. Each may be repeated to settle a difference. */
  readonly most: number
  readonly perSecond: number
  readonly signal: AbortSignal
}

/** One read and the answers of both sides. */
interface AgainstRow extends Rehearsed {
  readonly outcome: ComparisonOutcome
}

/** What was not sent, for people. */
const LEFT = {
  writes: 'writes, which are never sent',
  forms: 'reads written as a form',
  repeated: 'repeated reads',
  pageTokens: 'pages behind a page token, which only one side knows',
  v1Only: 'v1-only requests',
  other: 'requests that are not v1, or that v1 does not know',
  beyond: 'further reads; raise --max to send them',
}

export interface Against {
  readonly rows: readonly AgainstRow[]
  readonly left: Readonly<Record<keyof typeof LEFT, number>>
}

/** Every n-th read asks v1 twice, to learn which members change by themselves. */
const LEARN_EVERY = 10

/** Sends every different read of recorded traffic to v1 and, translated, to v2, one after the other. Compares their answers. */
export async function replayAgainst(traffic: Traffic, settings: AgainstSettings): Promise<Against> {
  const { reads, left } = await pick(traffic, settings)
  const rows: AgainstRow[] = []
  const began = performance.now()
  for (const [nth, read] of reads.entries()) {
    const due = began + (1000 * nth) / settings.perSecond - performance.now()
    if (due > 0) await wait(due, undefined, { signal: settings.signal })
    settings.signal.throwIfAborted()
    rows.push(await send(read, nth, settings))
  }
  return { rows, left }
}

interface Read {
  readonly operation: Operation
  readonly request: V1Request
  readonly url: string
}

async function pick({ items }: Traffic, { mappings, most }: AgainstSettings) {
  const placeOf = createRouteRecorded(mappings)
  const left = { writes: 0, forms: 0, repeated: 0, pageTokens: 0, v1Only: 0, other: 0, beyond: 0 }
  const reads = new Map<string, Read>()
  for await (const item of items) {
    const place = 'url' in item ? placeOf(item) : undefined
    if (place?.kind !== 'operation' || !('url' in item)) left.other += 1
    else if (!place.operation.begin) left.v1Only += 1
    else if (place.form) left.forms += 1
    else if (item.method !== 'GET' || !isRead(place.operation)) left.writes += 1
    else if (pageTokenOf(place.operation, item.url) !== undefined) left.pageTokens += 1
    else if (reads.has(item.url)) left.repeated += 1
    else if (reads.size >= most) left.beyond += 1
    else reads.set(item.url, { operation: place.operation, request: place.request, url: item.url })
  }
  return { reads: [...reads.values()], left }
}

async function send({ operation, request, url }: Read, nth: number, { ask, journal, token, signal }: AgainstSettings): Promise<AgainstRow> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
  const raw = { id: `replay-${nth + 1}`, method: 'GET', url, headers, body: undefined }
  const asking = { operation, raw, read: () => request }
  const proving = () => provingBy(ask, journal.operations, raw, signal)
  const since = journal.judging.now()
  const first = await ask('v1', asking, signal)
  const read = { ...asking, by: 'v1' as const, since, first, wrote: () => false, proving, learn: nth % LEARN_EVERY === 0 }
  const compared = await compareRead(read, ask, journal.judging, signal)
  journal.compared({ operation, request, mode: 'diff-v1', ...identify(headers.authorization) }, 'read', operation, compared)
  const { outcome, reason, findings } = compared.judgement
  const names = findings.map(
    ({ kind, where, code, noise }) => `${kind} ${where}${code === undefined ? '' : ` (${code})`}${noise ? ' (noise)' : ''}`,
  )
  return {
    operation: operation.id,
    shape: shapeOf(operation, request),
    outcome,
    ...(reason !== undefined && { reason }),
    differences: [...new Set(names)],
    v1: compared.v1.seen.status,
    v2: compared.v2.seen.status,
  }
}

const ORDER: readonly ComparisonOutcome[] = ['mismatch', 'transient', 'error', 'inconclusive', 'race', 'noise', 'expected', 'match']

/** Writes the answers of both sides as lines for a terminal: the sums, and everything that was not equal. */
export function againstLines({ rows, left }: Against): readonly string[] {
  const of = (outcome: ComparisonOutcome) => rows.filter((row) => row.outcome === outcome)
  const sums = ORDER.map((outcome) => `${count(of(outcome).length)} ${outcome}`).join(', ')
  const skipped = (Object.entries(left) as [keyof typeof LEFT, number][]).filter(([, n]) => n > 0)
  return [
    `${many(rows.length, 'read')} sent to both sides: ${sums}`,
    ...skipped.map(([name, n]) => `  not sent: ${count(n)} ${LEFT[name]}`),
    ...ORDER.filter((outcome) => outcome !== 'match')
      .flatMap(of)
      .map((row) => `${row.outcome}  ${row.shape}  HTTP ${row.v1} and ${row.v2}  ${whatDiffered(row, '')}`),
  ]
}

function whatDiffered({ differences, reason }: AgainstRow, otherwise: string): string {
  return differences.length > 0 ? differences.join(', ') : (reason ?? otherwise)
}

/** True if something was compared and nothing was wrong. */
export function isClean({ rows }: Against): boolean {
  return rows.some(({ outcome }) => JUDGED.has(outcome)) && rows.every(({ outcome }) => !WRONG.has(outcome))
}

const JUDGED: ReadonlySet<ComparisonOutcome> = new Set<ComparisonOutcome>(['match', 'expected', 'noise'])
const WRONG: ReadonlySet<ComparisonOutcome> = new Set<ComparisonOutcome>(['mismatch', 'transient', 'error'])

/** Returns each read that was sent, as JUnit has it. It is only clean if something was compared. */
export function againstJunit(against: Against): readonly JunitCase[] {
  const cases = against.rows.map((row): JunitCase => {
    const outcome = WRONG.has(row.outcome) ? 'failed' : JUDGED.has(row.outcome) ? 'passed' : 'skipped'
    return { name: row.shape, outcome, text: `${row.outcome}: HTTP ${row.v1} and ${row.v2}, ${whatDiffered(row, row.outcome)}` }
  })
  const nothing: JunitCase = { name: 'something was compared', outcome: 'failed', text: 'no read was compared' }
  return cases.some(({ outcome }) => outcome !== 'skipped') ? cases : [...cases, nothing]
}

/** One finding about an operation or a path. */
interface Finding {
  readonly rule: string
  readonly subject: string
  readonly times: number
  readonly message: string
}

interface Rule {
  readonly level: 'error' | 'warning' | 'note'
  readonly text: string
}

/** The rules that hold for every API. Each declared difference is a rule of its own. */
const RULES: Readonly<Record<string, Rule>> = {
  'v1-only': { level: 'warning', text: 'Only a v1 service can answer this operation.' },
  unknown: { level: 'warning', text: 'The tables of v1 do not have this path or method.' },
  refused: { level: 'warning', text: 'The request is refused before v2 is asked, because its query or its body is wrong.' },
  mismatch: { level: 'error', text: 'v1 and v2 answered differently, and no difference is declared.' },
  error: { level: 'error', text: 'One side failed.' },
  transient: { level: 'warning', text: 'v1 and v2 answered differently for a while.' },
  inconclusive: { level: 'note', text: 'The answers could not be compared.' },
  expected: { level: 'note', text: 'v1 and v2 answered differently, as is declared.' },
}

/** Says what recorded traffic would meet: what is not served, and the declared differences of each operation. */
export function replaySarif(replayed: Replayed, file: string): SarifLog {
  const seen = new Map(replayed.differences.map((one) => [one.code, one.seen]))
  const findings: Finding[] = []
  const find = (rule: string, subject: string, times: number, text: string) =>
    findings.push({ rule, subject, times, message: `${many(times, 'request')} ${text}` })
  for (const { operation, kind, requests, refused, differences, because = '' } of replayed.operations) {
    if (kind === 'v1-only') find('v1-only', operation, requests, `of ${operation} need v1: ${because}`)
    if (refused > 0) find('refused', operation, refused, `of ${operation} are refused.`)
    for (const code of differences) find(code, operation, requests, `of ${operation}: ${seen.get(code) ?? code}`)
  }
  for (const { method, path, why, requests } of replayed.unknown) {
    const subject = `${method} ${path}`.trim()
    find('unknown', subject, requests, `to ${subject}: ${why}.`)
  }
  const declared = replayed.differences.map(({ code, seen }): [string, Rule] => [code, { level: 'note', text: seen }])
  return logOf(findings, { ...Object.fromEntries(declared), ...RULES }, file)
}

/** SARIF 2.1.0 (OASIS), as far as it is written. */
export type SarifLog = ReturnType<typeof logOf>

/** Says what differed when the reads of recorded traffic were sent to both sides. Reads of one operation and outcome are one finding. */
export function againstSarif({ rows }: Against, file: string): SarifLog {
  const groups = new Map<string, AgainstRow[]>()
  for (const row of rows.filter(({ outcome }) => outcome in RULES)) {
    const key = `${row.outcome} ${row.operation}`
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return logOf([...groups.values()].flatMap(findingOf), RULES, file)
}

function findingOf(rows: readonly AgainstRow[]): readonly Finding[] {
  const [first] = rows
  if (!first) return []
  const what = rows.flatMap(({ differences, reason = '' }) => (differences.length > 0 ? differences : [reason]))
  const told = [...new Set(what)].filter((one) => one !== '').join(', ')
  const message = `${many(rows.length, 'read')} of ${first.operation}: ${told || (RULES[first.outcome]?.text ?? '')}`
  return [{ rule: first.outcome, subject: first.operation, times: rows.length, message }]
}

function logOf(findings: readonly Finding[], rules: Readonly<Record<string, Rule>>, file: string) {
  const ids = [...new Set(findings.map(({ rule }) => rule))]
  const driver = {
    name: 'Crosswalk',
    rules: ids.map((id) => ({
      id,
      shortDescription: { text: rules[id]?.text ?? id },
      defaultConfiguration: { level: rules[id]?.level ?? 'note' },
    })),
  }
  const results = findings.map(({ rule, subject, times, message }) => ({
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    level: rules[rule]?.level ?? 'note',
    message: { text: message },
    occurrenceCount: times,
    // The traffic is the file at hand. Code hosts show no result without one.
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: uriOf(file) }, region: { startLine: 1 } },
        logicalLocations: [{ fullyQualifiedName: subject, kind: 'function' }],
      },
    ],
    // It tells the same finding of two runs, whatever the numbers are.
    partialFingerprints: { 'crosswalk/v1': createHash('sha256').update(`${rule} ${subject}`).digest('hex') },
  }))
  return { $schema: SCHEMA, version: '2.1.0', runs: [{ tool: { driver }, results }] }
}

/** In the path of a URI, `?` and `#` would end it. */
function uriOf(file: string): string {
  return encodeURI(file.replaceAll('\\', '/')).replace(/[?#]/g, encodeURIComponent)
}

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'
