import { createHash } from 'node:crypto'
import type { SentRequest } from '../../migrate/compare/redact.ts'
import type { Caller, Comparison, Example, RecordedSide, Total } from '../../migrate/records/record.ts'
import type { DeclarationRow, Describe, OperationReport, Quantiles } from './report.ts'

const KEPT = 1_000

/** The last durations in milliseconds, up to a capacity. */
export class RecentDurations {
  readonly #kept: number[] = []
  #next = 0

  add(ms: number): void {
    this.#kept[this.#next] = ms
    this.#next = (this.#next + 1) % KEPT
  }

  /** undefined without durations. */
  quantiles(): Quantiles | undefined {
    const sorted = this.#kept.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
    const [p50, p95] = [at(0.5), at(0.95)]
    return p50 === undefined || p95 === undefined ? undefined : { p50, p95 }
  }
}

export interface CountedStep<K extends string> {
  /** When the step begins. */
  readonly at: number
  readonly counts: Partial<Readonly<Record<K, number>>>
}

const FIRST_STEP_MS = 1_000

/** Maximum steps of the whole span; a chart has no more pixels for them. */
const MOST_STEPS = 96

type Series<K extends string> = Map<number, { [Key in K]?: number }>

/** Counts by time step. All steps have one length, which doubles when there are too many, so that any span fits a bounded space. */
export class Steps<K extends string> {
  readonly #all = new Map<string, Series<K>>()
  #stepMs = FIRST_STEP_MS
  #from = Number.POSITIVE_INFINITY
  #to = Number.NEGATIVE_INFINITY

  /** Length of one step in milliseconds. */
  get stepMs(): number {
    return this.#stepMs
  }

  /** Counts one event of a series at a time in milliseconds since 1970. */
  count(name: string, at: number, key: K): void {
    this.#widen(at)
    const series: Series<K> = this.#all.get(name) ?? new Map()
    this.#all.set(name, series)
    add(series, Math.floor(at / this.#stepMs), key, 1)
  }

  /** Returns the steps of a series with counts, oldest first. */
  of(name: string): readonly CountedStep<K>[] {
    const series = [...(this.#all.get(name) ?? [])].sort(([a], [b]) => a - b)
    return series.map(([index, counts]) => ({ at: index * this.#stepMs, counts }))
  }

  #widen(at: number): void {
    this.#from = Math.min(this.#from, at)
    this.#to = Math.max(this.#to, at)
    const before = this.#stepMs
    while (Math.floor(this.#to / this.#stepMs) - Math.floor(this.#from / this.#stepMs) >= MOST_STEPS) this.#stepMs *= 2
    if (this.#stepMs > before) for (const [name, series] of this.#all) this.#all.set(name, merged(series, this.#stepMs / before))
  }
}

/** Returns the same counts in steps that are `times` as long. */
function merged<K extends string>(series: Series<K>, times: number): Series<K> {
  const wider: Series<K> = new Map()
  for (const [index, counts] of series) {
    for (const [key, count] of Object.entries(counts) as [K, number][]) add(wider, Math.floor(index / times), key, count)
  }
  return wider
}

function add<K extends string>(series: Series<K>, index: number, key: K, count: number): void {
  const counts: { [Key in K]?: number } = series.get(index) ?? {}
  series.set(index, counts)
  counts[key] = (counts[key] ?? 0) + count
}

/**
 * Worst first. `failed` has no place: v2 gave an error and v1 did not. `transient`: it was gone at the second asking. `open`: there was no
 * result.
 */
export const DIFFERENCE_STATES = ['unexplained', 'failed', 'transient', 'open', 'race', 'noise', 'declared'] as const

export type DifferenceState = (typeof DIFFERENCE_STATES)[number]

/** States that somebody has to mend, because they count against v2. */
export const TO_MEND: ReadonlySet<DifferenceState> = new Set<DifferenceState>(['unexplained', 'transient', 'failed'])

/** Findings of one kind at one place of one operation's answers. */
export interface Difference {
  /** Unique within its operation, and the same in the next report. */
  readonly key: string
  readonly state: DifferenceState
  readonly kind: Example['kind'] | 'error' | 'race' | 'inconclusive'
  /** JSON Pointer with `*` for indices and map keys; a sentence with the reason if there is no place. */
  readonly where: string
  readonly code?: string
  readonly findings: number
  readonly comparisons: number
  readonly callers: number
  readonly firstAt: number
  readonly lastAt: number
  /** Comparisons in each time step. */
  readonly steps: readonly (readonly [at: number, comparisons: number])[]
  /** Newest first, up to the limit. Of equal ones the newest, which lists the others. */
  readonly examples: readonly ExampleReport[]
  /** The older report did not have it. */
  readonly isNew?: true
}

/** What tells equal examples apart. */
export interface EqualExample {
  readonly id: string
  readonly at: number
  readonly mode: string
  /** The replica that compared. A process without a store has none. */
  readonly replica?: string
  /** What both sides were asked, or the write that v2 failed. Records of older versions lack it. */
  readonly request?: SentRequest
  /** Absent after a write that v2 failed. */
  readonly v1Side?: RecordedSide
  readonly v2Side: RecordedSide
}

/** False for a call of a function, which no command can repeat. Records of older versions are all of requests. */
export function isOfRequest({ request }: Pick<EqualExample, 'request'>): boolean {
  return request === undefined || request.url.startsWith('/')
}

/** One comparison that shows a difference. */
export interface ExampleReport extends EqualExample, Caller, Pick<Example, 'v1' | 'v2' | 'differsAt' | 'row' | 'around'> {
  readonly shape: string
  readonly check: Comparison['check']
  /** Exact JSON Pointer, if there is one. */
  readonly pointer?: string
  readonly reason?: string
  /** Earlier ones of the same caller and kind of request, with the same values at the same place. Newest first. */
  readonly equal?: readonly EqualExample[]
}

/** Returns the tables' texts about a code. A code that is no longer in the tables has none. The list may change. */
export function describeWith(differences: readonly Pick<DeclarationRow, 'code' | 'seen' | 'because'>[]): Describe {
  return (code) => {
    const { seen = '', because = '' } = differences.find((one) => one.code === code) ?? {}
    return { seen, because }
  }
}

/** What one comparison adds to one difference. */
interface Sighting extends Pick<Difference, 'key' | 'state' | 'kind' | 'where' | 'code' | 'findings'> {
  readonly example?: ExampleReport
}

/** Returns the differences that a comparison shows. One without findings that is no match shows one difference, named by its reason. */
function sightingsOf(comparison: Comparison): readonly Sighting[] {
  const { outcome, reason = 'no reason was recorded', totals } = comparison
  if (totals.length > 0) return totals.map((total) => sightingOf(comparison, total))
  if (outcome !== 'error' && outcome !== 'race' && outcome !== 'inconclusive') return []
  const state = outcome === 'error' ? 'failed' : outcome === 'race' ? 'race' : 'open'
  return [{ key: `${state} ${outcome} ${reason}`, state, kind: outcome, where: reason, findings: 1, example: exampleOf(comparison) }]
}

function sightingOf(comparison: Comparison, total: Total): Sighting {
  const { kind, where, code, count } = total
  const state = stateOf(comparison.outcome, total)
  const example = comparison.examples.find((one) => one.kind === kind && one.where === where && one.code === code)
  return {
    key: [state, kind, where, ...(code === undefined ? [] : [code])].join(' '),
    state,
    kind,
    where,
    ...(code !== undefined && { code }),
    findings: count,
    ...(example && { example: exampleOf(comparison, example) }),
  }
}

function stateOf(outcome: Comparison['outcome'], { code, noise }: Total): DifferenceState {
  if (outcome === 'race') return 'race'
  if (code !== undefined) return 'declared'
  if (noise) return 'noise'
  // A replica that could not tell of its writes may have made the one that explains it.
  if (outcome === 'inconclusive') return 'open'
  return outcome === 'transient' ? 'transient' : 'unexplained'
}

function exampleOf(comparison: Comparison, example?: Example): ExampleReport {
  const { id, at, caller, subject, replica, mode, shape, check, request, reason, answers, v1, v2 } = comparison
  const around = example ? example.around : answers
  return {
    id,
    at: Date.parse(at),
    caller,
    ...(subject !== undefined && { subject }),
    ...(replica !== undefined && { replica }),
    mode,
    shape,
    check,
    ...(request && { request }),
    ...(example && {
      pointer: example.at,
      ...(Object.hasOwn(example, 'v1') && { v1: example.v1 }),
      ...(Object.hasOwn(example, 'v2') && { v2: example.v2 }),
      ...(example.differsAt !== undefined && { differsAt: example.differsAt }),
      ...(example.row !== undefined && { row: example.row }),
    }),
    ...(around && { around }),
    ...(v1 && { v1Side: v1 }),
    v2Side: v2,
    ...(reason !== undefined && { reason }),
  }
}

/** Maximum examples of all groups. */
const MOST = 10_000

/** Examples of each group that are always kept. */
const SPARED = 3

/** Examples of one caller, request and place with the same values. */
interface Equals {
  newest: ExampleReport
  /** The others, oldest first. */
  readonly older: EqualExample[]
}

interface Group {
  /** The one that was seen last comes last. */
  readonly equals: Map<string, Equals>
  held: number
}

/** Examples by group. The limit applies to all groups together, but a frequent difference never removes a rare one. */
export class Examples {
  readonly #groups = new Map<string, Group>()
  readonly #most: number
  /** The group and the equals of each example, oldest first. Reading starts at `#first`. */
  #order: (readonly [group: string, key: string])[] = []
  #first = 0
  #held = 0

  constructor(most: number = MOST) {
    this.#most = most
  }

  add(name: string, example: ExampleReport): void {
    const group = this.#groups.get(name) ?? { equals: new Map<string, Equals>(), held: 0 }
    this.#groups.set(name, group)
    const key = keyOf(example)
    const known = group.equals.get(key)
    group.equals.delete(key)
    known?.older.push(briefly(known.newest))
    group.equals.set(key, { newest: example, older: known?.older ?? [] })
    group.held += 1
    this.#order.push([name, key])
    this.#held += 1
    if (this.#held > this.#most) this.#forgetOldest()
    if (this.#first > this.#most) {
      this.#order = this.#order.slice(this.#first)
      this.#first = 0
    }
  }

  /** The newest of those that are equal, newest first. */
  of(name: string): readonly ExampleReport[] {
    const newestLast = [...(this.#groups.get(name)?.equals.values() ?? [])]
    return newestLast.reverse().map(({ newest, older }) => (older.length === 0 ? newest : { ...newest, equal: [...older].reverse() }))
  }

  #forgetOldest(): void {
    while (this.#first < this.#order.length) {
      const [name, key] = this.#order[this.#first++] ?? ['', '']
      const group = this.#groups.get(name)
      if (!group || group.held <= SPARED) continue
      if (group.equals.get(key)?.older.shift() === undefined) group.equals.delete(key)
      group.held -= 1
      this.#held -= 1
      return
    }
  }
}

function briefly({ id, at, mode, replica, request, v1Side, v2Side }: ExampleReport): EqualExample {
  return { id, at, mode, ...(replica !== undefined && { replica }), ...(request && { request }), ...(v1Side && { v1Side }), v2Side }
}

/** Examples with the same key show the same: only their times, their modes and the values of their parameters differ. */
function keyOf({ caller, subject, shape, check, pointer, v1, v2, v1Side, v2Side, reason }: ExampleReport): string {
  const shown = [caller, subject, shape, check, pointer, v1, v2, v1Side?.status, v2Side.status, reason]
  return createHash('sha1').update(JSON.stringify(shown)).digest('base64')
}

/** Maximum differences of one operation that are told apart. */
const MOST_GROUPS = 200

/** Maximum callers of one difference that are told apart. */
const CALLERS = 1_000

interface CountedGroup extends Pick<Difference, 'key' | 'state' | 'kind' | 'where' | 'code'> {
  findings: number
  comparisons: number
  readonly callers: Set<string>
  readonly firstAt: number
  lastAt: number
}

/** The differences of every operation, counted one comparison at a time. */
export class Differences {
  readonly #operations = new Map<string, { readonly groups: Map<string, CountedGroup>; further: number }>()
  readonly #steps = new Steps<'comparisons'>()
  readonly #examples = new Examples()

  add(comparison: Comparison, at: number): void {
    const { operation, caller } = comparison
    const known = this.#operations.get(operation) ?? { groups: new Map<string, CountedGroup>(), further: 0 }
    this.#operations.set(operation, known)
    for (const sighting of sightingsOf(comparison)) {
      const { key, findings, example } = sighting
      const group = known.groups.get(key) ?? (known.groups.size < MOST_GROUPS ? newGroup(sighting, at) : undefined)
      if (!group) {
        known.further += 1
        continue
      }
      known.groups.set(key, group)
      group.findings += findings
      group.comparisons += 1
      group.lastAt = Math.max(group.lastAt, at)
      if (group.callers.size < CALLERS) group.callers.add(caller)
      const name = nameOf(operation, key)
      this.#steps.count(name, at, 'comparisons')
      if (example) this.#examples.add(name, example)
    }
  }

  of(operation: string): Pick<OperationReport, 'differences' | 'furtherDifferences'> {
    const { groups, further } = this.#operations.get(operation) ?? { groups: new Map<string, CountedGroup>(), further: 0 }
    const differences = [...groups.values()].map(({ callers, ...group }): Difference => {
      const name = nameOf(operation, group.key)
      const steps = this.#steps.of(name).map(({ at, counts }) => [at, counts.comparisons ?? 0] as const)
      return { ...group, callers: callers.size, steps, examples: this.#examples.of(name) }
    })
    return { differences: differences.sort(worstFirst), furtherDifferences: further }
  }
}

function newGroup({ key, state, kind, where, code }: Sighting, at: number): CountedGroup {
  const label = { key, state, kind, where, ...(code !== undefined && { code }) }
  return { ...label, findings: 0, comparisons: 0, callers: new Set(), firstAt: at, lastAt: at }
}

function nameOf(operation: string, key: string): string {
  return `${operation}\n${key}`
}

function worstFirst(a: Difference, b: Difference): number {
  return DIFFERENCE_STATES.indexOf(a.state) - DIFFERENCE_STATES.indexOf(b.state) || b.comparisons - a.comparisons
}
