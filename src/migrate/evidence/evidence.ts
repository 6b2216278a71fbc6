import type { ComparisonOutcome } from '../compare/judge.ts'
import type { Comparison } from '../records/record.ts'
import type { Recorder } from '../records/record-file.ts'
import { countKind, type KindCounts, type SeenKind, seenKinds } from './kinds.ts'
import type { Uncompared, UncomparedCounts } from './standing.ts'

/** A whole number as people read it: `12,345`. `toLocaleString` would load the rules of all languages: 8 MiB, and a tenth of the start. */
export function count(n: number): string {
  const digits = String(n)
  const first = digits.length % 3 || 3
  return [digits.slice(0, first), ...(digits.slice(first).match(/\d{3}/g) ?? [])].join(',')
}

/** `1 request`, `2,500 requests`. */
export function many(n: number, one: string, several = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : several}`
}

/** Three significant digits: `0.1 %`, `0.0982 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`
}

/** What was observed: `n` observations, of which `bad` were wrong. Samples of several proxies are merged by adding their counts. */
export interface Sample {
  readonly n: number
  readonly bad: number
}

/** Maximum share of migrations in which the bound may ever be too low: 95 % confidence. */
const ALPHA = 0.05
const ENOUGH = Math.log(1 / ALPHA)

/**
 * The mixture: bets that v2 is this many times better than the rate that is tested. Half is on "never wrong", which is quick to confirm.
 * Any fixed mixture keeps the guarantee, and this one needs few observations (docs/facts/evidence.md).
 */
const BETS: readonly { readonly weight: number; readonly part: number }[] = [
  { weight: 0.5, part: 0 },
  { weight: 0.2, part: 0.1 },
  { weight: 0.2, part: 0.25 },
  { weight: 0.1, part: 0.5 },
]

/**
 * Returns the smallest number of wrong observations that the sample excludes, at 95 %, as the expected one.
 * Let A be the sum of the chances that each observation had to be wrong, given all before it. For each part c,
 * `c^bad · exp((1 − c) · A)` is a supermartingale, because `(1 − (1 − c)·p) · exp((1 − c)·p) ≤ 1` for every chance p.
 * By Ville's inequality their mixture ever reaches 20 with a probability of 5 % at most. It rises with A, so this A is where it reaches 20.
 * (H. Robbins, Ann. Math. Stat. 41 (1970) 1397–1409; S. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, Probab. Surv. 17 (2020) 257–317.)
 */
function findExcluded(bad: number): number {
  const bets = BETS.filter(({ part }) => bad === 0 || part > 0).map(({ weight, part }) => ({
    stake: Math.log(weight) + (bad === 0 ? 0 : bad * Math.log(part)),
    growth: 1 - part,
  }))
  // One bet alone reaches 20 no earlier than all together.
  let high = Math.min(...bets.map(({ stake, growth }) => (ENOUGH - stake) / growth))
  let low = 0
  while (high - low > 1e-12 * high) {
    const middle = (low + high) / 2
    if (middle <= low || middle >= high) break
    if (logSum(bets.map(({ stake, growth }) => stake + growth * middle)) >= ENOUGH) high = middle
    else low = middle
  }
  return high
}

/** What was excluded, by the number of wrong observations. A report asks for few numbers thousands of times, and each takes 20 µs. */
const found = new Map<number, number>()

/** Maximum numbers that are remembered. */
const REMEMBERED = 10_000

/** Returns the smallest number of wrong observations that so many wrong ones exclude, at 95 %, as the expected one. */
export function excluded(bad: number): number {
  const known = found.get(bad) ?? findExcluded(bad)
  if (found.size < REMEMBERED) found.set(bad, known)
  return known
}

/** Returns ln of the sum of the exponentials. */
function logSum(all: readonly number[]): number {
  const highest = Math.max(...all)
  return highest + Math.log(all.reduce((sum, one) => sum + Math.exp(one - highest), 0))
}

/**
 * Returns the upper end of the 95 % confidence sequence for the average rate of wrong observations so far, 0–1. 1 without observations.
 * It holds at all times at once: it stays valid if it is read after every request, and if one stops when it looks good.
 * It also holds if the rate changes, and if what is observed is chosen by what was seen before.
 */
export function upperBound({ n, bad }: Sample): number {
  return n === 0 ? 1 : Math.min(1, excluded(bad) / n)
}

/** True if the observations exclude, at 95 %, a rate above `target`. */
export function isWithin(seen: Sample, target: number): boolean {
  return upperBound(seen) <= target
}

/** Returns how many more observations, all clean, bring the bound down to `target` (0 < target < 1); 0 if it is there already. */
export function cleanNeeded({ n, bad }: Sample, target: number): number {
  let enough = Math.max(0, Math.ceil(excluded(bad) / target) - n)
  // The division may have rounded down.
  while (!isWithin({ n: n + enough, bad }, target)) enough += 1
  return enough
}

/** What evidence, circuit and inventory count of one comparison. `Comparison` has these members. */
export interface Observation {
  readonly operation: string
  /** Hash that identifies the caller. */
  readonly caller: string
  readonly shape: string
  readonly outcome: ComparisonOutcome
  /** Requests that it stands for, if chance chose it: the inverse of its probability. Default: 1. */
  readonly weight?: number
  /** What was read, and in which mode. Default: a read. */
  readonly check?: Comparison['check']
  readonly mode?: string
  /** A person had it asked. It counts for its kind of request alone (`countKind`), and for no share of the traffic. */
  readonly rehearsed?: true
}

/** Explains the unit of all evidence, wherever a person reads a number of observations. */
export const OBSERVATION =
  'An observation is the first comparison of one caller and one kind of request in ten minutes. ' +
  'More callers and other kinds of requests bring more; repeats bring none.'

/** Splits a reason into its clauses, each for a line of its own. The first one is the verdict. */
export function clausesOf(reason: string): readonly string[] {
  return reason.split(/(?<=[.;]) (?=\S)/)
}

/** How an outcome counts in a rate: clean for v2, bad against it, or not at all. */
export type Weight = 'clean' | 'bad' | 'nothing'

export const WEIGHTS: Readonly<Record<ComparisonOutcome, Weight>> = {
  match: 'clean',
  expected: 'clean',
  noise: 'clean',
  mismatch: 'bad',
  transient: 'bad',
  error: 'bad',
  race: 'nothing',
  inconclusive: 'nothing',
}

/**
 * The ledger of an operation. `uses` are the requests in a diff mode whose caller a side accepted. Each ends in one account: what its
 * comparison showed, or a reason of `uncompared` (`accountsOf`).
 */
type Booked = 'uses' | 'same' | 'declared' | 'wrong' | 'race'

type BookedCounts = Partial<Readonly<Record<Booked, number>>>

/** The account of a comparison by its outcome. One without a result has a reason. */
const ACCOUNT: Readonly<Record<Exclude<ComparisonOutcome, 'inconclusive'>, Booked>> = {
  match: 'same',
  expected: 'declared',
  noise: 'declared',
  race: 'race',
  mismatch: 'wrong',
  transient: 'wrong',
  error: 'wrong',
}

/** True if v2 answered otherwise than v1 and nothing explains it, whether or not it did so again. */
export function isDifference(outcome: ComparisonOutcome): boolean {
  return outcome === 'mismatch' || outcome === 'transient'
}

interface CollapseSettings {
  /** Milliseconds in which the comparisons of one caller and shape are one observation. */
  readonly windowMs: number
  /** Maximum pairs of caller and shape that are remembered. */
  readonly entries: number
}

export const COLLAPSE: CollapseSettings = { windowMs: 600_000, entries: 100_000 }

/** Where a comparison counts (evidence §1). */
export interface Place {
  /** No other of its pair that says something about v2 was counted in the last ten minutes. Any other that does is a repeat. */
  readonly isFirst: boolean
  /** This outcome of the pair was not counted in the last ten minutes. */
  readonly isNewOutcome: boolean
}

/** Places a comparison at this time (milliseconds), and remembers it. */
type Collapse = (observation: Observation, now: number) => Place

/** True for a comparison that is worth a record. */
function isCounted({ isFirst, isNewOutcome }: Place): boolean {
  return isFirst || isNewOutcome
}

/** True for a comparison that says something about v2, but is no observation. */
export function isRepeat({ outcome }: Pick<Observation, 'outcome'>, { isFirst }: Place): boolean {
  return !isFirst && WEIGHTS[outcome] !== 'nothing'
}

/** When a pair was last counted. */
interface Pair {
  observedAt: number | undefined
  readonly outcomes: Partial<Record<Observation['outcome'], number>>
  at: number
}

/**
 * Counts thousands of identical polls as one observation.
 * When the memory is full, clean comparisons of new pairs are no observations. The evidence may then grow too slowly, but never too fast.
 * Replicas of a fleet claim observations and outcomes of pairs by the same rule (`evidenceChanges`), so that a fleet counts as one process.
 */
export function createCollapse({ windowMs, entries }: CollapseSettings = COLLAPSE): Collapse {
  /** Oldest first: a pair moves to the end when something of it is counted. */
  const pairs = new Map<string, Pair>()
  // A clock may step back. What is older than the window is no repetition either.
  const isOver = (at: number | undefined, now: number) => at === undefined || Math.abs(now - at) >= windowMs
  const forget = (now: number) => {
    for (const [key, { at }] of pairs) {
      if (!isOver(at, now)) return
      pairs.delete(key)
    }
  }
  return ({ operation, caller, shape, outcome }, now) => {
    const weight = WEIGHTS[outcome]
    const key = `${operation}\n${caller}\n${shape}`
    const known = pairs.get(key)
    if (!known && pairs.size >= entries) forget(now)
    if (!known && pairs.size >= entries) return { isFirst: weight === 'bad', isNewOutcome: weight !== 'clean' }
    const pair: Pair = known ?? { observedAt: undefined, outcomes: {}, at: now }
    const place = { isFirst: weight !== 'nothing' && isOver(pair.observedAt, now), isNewOutcome: isOver(pair.outcomes[outcome], now) }
    if (!isCounted(place)) return place
    if (place.isFirst) pair.observedAt = now
    if (place.isNewOutcome) pair.outcomes[outcome] = now
    pair.at = now
    pairs.delete(key)
    pairs.set(key, pair)
    return place
  }
}

/** Milliseconds. */
export const HOUR = 3_600_000

/** The hours that tell the pace. */
export const HOURS = 24

type Pace = ReturnType<typeof createPace>

/** Counts new observations by hour, to estimate how many a day brings. */
function createPace() {
  const hours = new Map<number, number>()
  let first = Number.POSITIVE_INFINITY
  return {
    /** Counts one observation; `at` in milliseconds since 1970. */
    add(at: number) {
      first = Math.min(first, at)
      const hour = Math.floor(at / HOUR)
      hours.set(hour, (hours.get(hour) ?? 0) + 1)
      for (const old of hours.keys()) {
        if (hours.size <= HOURS + 1) return
        hours.delete(old)
      }
    },
    /** Returns observations per day at the pace of the last 24 hours before `now`; undefined while that is unknown. */
    perDay: (now: number): number | undefined => perDayOf(hours, first, now),
  }
}

/** Returns observations per day by those of each hour since 1970, as `perDay` does. `first` is the time of the first one of all. */
export function perDayOf(hours: Iterable<readonly [hour: number, count: number]>, first: number, now: number): number | undefined {
  const from = Math.floor(now / HOUR) - HOURS + 1
  const counted = [...hours].reduce((sum, [hour, count]) => (hour >= from && hour * HOUR <= now ? sum + count : sum), 0)
  const watched = Math.min(now - first, now - from * HOUR)
  return counted === 0 || watched < HOUR ? undefined : (counted * HOURS * HOUR) / watched
}

/** Counts of repeats (evidence §2). */
export interface RepeatCounts {
  readonly n: number
  readonly bad: number
  /** Requests that they stand for, and those that the wrong ones stand for. */
  readonly requests: number
  readonly wrong: number
}

/** What is counted of an operation without a record of its own. */
export interface OperationTally {
  readonly comparisons?: number
  readonly repeats?: RepeatCounts
  readonly uncompared?: UncomparedCounts
  readonly booked?: BookedCounts
}

/** The counts of one operation. All but the times are sums. */
export interface OperationCounts {
  comparisons: number
  n: number
  bad: number
  readonly repeats: { -readonly [K in keyof RepeatCounts]: number }
  /** By outcome, each outcome of a pair once in ten minutes. */
  readonly outcomes: { [O in ComparisonOutcome]: number }
  readonly uncompared: { [W in Uncompared]?: number }
  readonly booked: { [B in Booked]?: number }
  readonly callers: Set<string>
  readonly shapes: Set<string>
  /** By shape. */
  readonly kinds: Map<string, KindCounts>
  readonly pace: Pace
  readonly firstAt: number
  lastAt: number
}

/** Maximum distinct callers, and shapes, that are counted for one operation. */
export const DISTINCT = 10_000

function newCounts(at: number): OperationCounts {
  const outcomes = noOutcomes()
  const repeats = { n: 0, bad: 0, requests: 0, wrong: 0 }
  const sets = { callers: new Set<string>(), shapes: new Set<string>(), kinds: new Map<string, KindCounts>(), pace: createPace() }
  return { comparisons: 0, n: 0, bad: 0, repeats, outcomes, uncompared: {}, booked: {}, ...sets, firstAt: at, lastAt: at }
}

export function noOutcomes(): OperationCounts['outcomes'] {
  return { match: 0, expected: 0, noise: 0, race: 0, mismatch: 0, transient: 0, error: 0, inconclusive: 0 }
}

/** Counts a comparison that is worth a record: an observation, or another outcome of its pair. */
function countComparison(counts: OperationCounts, observation: Observation, { isFirst, isNewOutcome }: Place, at: number): void {
  const { outcome, caller, shape } = observation
  counts.comparisons += 1
  counts.lastAt = at
  if (isNewOutcome) counts.outcomes[outcome] += 1
  // A caller whom a side refused, or about whom nothing is known, is no caller.
  if (WEIGHTS[outcome] !== 'nothing') {
    addUpTo(counts.callers, caller)
    addUpTo(counts.shapes, shape)
    countKind(counts.kinds, observation, WEIGHTS[outcome], { isFirst }, at)
  }
  if (isFirst) {
    counts.n += 1
    if (WEIGHTS[outcome] === 'bad') counts.bad += 1
    counts.pace.add(at)
  } else addEach(counts.repeats, repeatOf(observation))
}

/** It grows in place, because most requests of a busy proxy are only counted. */
function addTally(counts: Sum, { comparisons = 0, repeats, uncompared, booked }: OperationTally): void {
  counts.comparisons += comparisons
  if (repeats) addEach(counts.repeats, repeats)
  if (uncompared) addEach(counts.uncompared, uncompared)
  if (booked) addEach(counts.booked, booked)
}

function addEach<K extends string>(counts: { [N in K]?: number }, more: { readonly [N in K]?: number }): void {
  for (const name in more) counts[name] = (counts[name] ?? 0) + (more[name] ?? 0)
}

/** Returns what a repeat adds to the counts; nothing if it says nothing about v2. */
export function repeatOf({ outcome, weight = 1 }: Observation): RepeatCounts {
  const counted = WEIGHTS[outcome] === 'nothing' ? 0 : 1
  const bad = WEIGHTS[outcome] === 'bad' ? 1 : 0
  return { n: counted, bad, requests: counted * weight, wrong: bad * weight }
}

function addUpTo(set: Set<string>, name: string): void {
  if (set.size < DISTINCT) set.add(name)
}

type TallyListener = (operation: string, tally: OperationTally) => void

export type Tallies = ReturnType<typeof createTallies>

/** Counts what is too much for records of its own: repeats, and requests that were not compared. `now` returns milliseconds since 1970. */
export function createTallies(evidence: Pick<Evidence, 'add' | 'observe'>, recorder: Pick<Recorder, 'record'>, now: () => number) {
  let since = new Map<string, Sum>()
  const totals = new Map<string, Total>()
  const listeners: TallyListener[] = []
  const begun = (operation: string): Total => {
    const total = { ...newSum(), outcomes: noOutcomes() }
    totals.set(operation, total)
    return total
  }
  const add = (operation: string, tally: OperationTally) => {
    evidence.add(operation, tally)
    addTally(totals.get(operation) ?? begun(operation), tally)
    const sum = since.get(operation) ?? newSum()
    since.set(operation, sum)
    addTally(sum, tally)
    for (const listener of listeners) listener(operation, tally)
  }
  return {
    /** Counts a comparison. Returns it as it is recorded; undefined if it is not worth a record. */
    count<Seen extends Observation>(comparison: Seen): (Seen & Pick<Comparison, 'repeat'>) | undefined {
      const { operation, outcome } = comparison
      const booked = outcome === 'inconclusive' ? {} : { booked: { [ACCOUNT[outcome]]: 1 } }
      const place = evidence.observe(comparison)
      if (place?.isNewOutcome) (totals.get(operation) ?? begun(operation)).outcomes[outcome] += 1
      if (!place) add(operation, { comparisons: 1, repeats: repeatOf(comparison), ...booked })
      else if (booked.booked) add(operation, booked)
      return place && isRepeat(comparison, place) ? { ...comparison, repeat: true } : place && comparison
    },
    /** Counts a request without a result; `isUse` if it was not counted as a use before. */
    uncompared: (operation: string, why: Uncompared, isUse: boolean = false) =>
      add(operation, { uncompared: { [why]: 1 }, ...(isUse && { booked: { uses: 1 } }) }),
    /** Counts a use. Its account follows. */
    used: (operation: string) => add(operation, { booked: { uses: 1 } }),
    /** Passes on what is counted from now on, each time. */
    follow: (listener: TallyListener): void => void listeners.push(listener),
    /** Returns what this process has counted of these operations, and of others, since it started: no epoch takes that back. */
    totals(known: readonly string[]): ReadonlyMap<string, Total> {
      for (const operation of known) if (!totals.has(operation)) begun(operation)
      return totals
    },
    /** Records the counts since the last flush. */
    flush() {
      const at = new Date(now()).toISOString()
      for (const [operation, sum] of since) recorder.record({ kind: 'tally', at, operation, ...tallyOf(sum) })
      since = new Map()
    },
    /** Forgets the counts since the last flush. */
    reset() {
      since = new Map()
    },
  }
}

/** The counts of one operation since the process started. */
type Total = Sum & Pick<OperationCounts, 'outcomes'>

/** The counts of one operation since the last flush. */
type Sum = Pick<OperationCounts, 'repeats' | 'uncompared' | 'booked'> & { comparisons: number }

function newSum(): Sum {
  return { comparisons: 0, repeats: { n: 0, bad: 0, requests: 0, wrong: 0 }, uncompared: {}, booked: {} }
}

/** Leaves out what is zero. */
function tallyOf({ comparisons, repeats, uncompared, booked }: Sum): OperationTally {
  return {
    ...(comparisons > 0 && { comparisons, repeats }),
    ...(Object.keys(uncompared).length > 0 && { uncompared }),
    ...(Object.keys(booked).length > 0 && { booked }),
  }
}

/** Returns the observations that count against v2. */
export function wrongOf({ mismatches, transients, errors }: Pick<OperationEvidence, 'mismatches' | 'transients' | 'errors'>): number {
  return mismatches + transients + errors
}

/** The evidence about one operation. docs/facts/evidence.md says what each number claims. */
export interface OperationEvidence {
  readonly operation: string
  /** Answers that were compared, observations and repeats. */
  readonly comparisons: number
  /** Observations: what different callers asked, once in ten minutes. */
  readonly n: number
  /** Wrong observations. */
  readonly bad: number
  /** Upper end of the anytime-valid 95 % confidence interval for the share of wrong observations, 0–1. */
  readonly bound: number
  /** Repeats of what was observed in the last ten minutes, as far as they were compared. */
  readonly repeats: Repeats
  /** Estimated share of requests with a wrong answer, 0–1: every request weighs the same. 0 without evidence. */
  readonly share: number
  /** Outcomes. Each outcome of one caller and shape counts once in ten minutes. */
  readonly matches: number
  readonly expected: number
  readonly noise: number
  readonly races: number
  readonly mismatches: number
  /** Differences that were gone at the second asking, and that nothing explains. */
  readonly transients: number
  readonly errors: number
  readonly inconclusive: number
  /** Number of distinct callers and of parameter shapes; counting stops at `DISTINCT`. */
  readonly callers: number
  readonly shapes: number
  /** The kinds of requests that are told apart. Absent in answers of older versions. */
  readonly kinds?: readonly SeenKind[]
  /** New observations per day at the pace of the last 24 hours; absent while that is unknown. */
  readonly perDay?: number
  /** Requests that were not compared, or whose comparison has no result, by reason. */
  readonly uncompared: UncomparedCounts
  /** The uses, and the accounts of those that were compared. Records of versions before 0.3 have none. */
  readonly booked: BookedCounts
  /** Times of the first and the last use, compared or not, in milliseconds since 1970. */
  readonly firstAt: number
  readonly lastAt: number
}

interface Repeats extends RepeatCounts {
  /** Like the bound of the observations. */
  readonly bound: number
}

export type Evidence = ReturnType<typeof createEvidence>

/** `now` returns milliseconds since 1970. */
export function createEvidence(now: () => number, collapse: CollapseSettings = COLLAPSE) {
  const operations = new Map<string, OperationCounts>()
  let place = createCollapse(collapse)
  /** The time of what came last: records may be older than the clock. */
  let latest = 0
  const countsOf = (operation: string, at: number) => {
    latest = Math.max(latest, at)
    const counts = operations.get(operation) ?? newCounts(at)
    operations.set(operation, counts)
    return counts
  }
  return {
    /**
     * Counts one comparison, made now or at the given time (milliseconds) for one that is read back from a record.
     * Returns undefined if its pair and outcome were counted in the last ten minutes. It is not worth a record then, and the caller counts it
     * with `add`.
     */
    observe(observation: Observation, at: number = now()): Place | undefined {
      if (observation.rehearsed) {
        const { kinds } = countsOf(observation.operation, at)
        countKind(kinds, observation, WEIGHTS[observation.outcome], { isFirst: false }, at)
        return undefined
      }
      const placed = place(observation, at)
      if (!isCounted(placed)) return undefined
      countComparison(countsOf(observation.operation, at), observation, placed, at)
      return placed
    },
    /** Adds what was counted without records. */
    add(operation: string, tally: OperationTally, at: number = now()) {
      const counts = countsOf(operation, at)
      addTally(counts, tally)
      counts.lastAt = at
    },
    of(operation: string): OperationEvidence | undefined {
      const counts = operations.get(operation)
      return counts && summary(operation, counts, latest)
    },
    /** Numbers of observations by operation, as they are now. It costs less than `all`. */
    observed: operations,
    all: (): readonly OperationEvidence[] =>
      [...operations].map(([operation, counts]) => summary(operation, counts, latest)).sort((a, b) => (a.operation < b.operation ? -1 : 1)),
    /** Drops all evidence. Old answers prove nothing once v2 or its tables have changed. */
    reset() {
      operations.clear()
      place = createCollapse(collapse)
    },
  }
}

/** Returns the evidence of an operation about which nothing is known. */
export function noEvidence(operation: string): OperationEvidence {
  return summary(operation, newCounts(0), 0)
}

/** Returns the counts of both strata with what they say. */
export function figuresOf({ n, bad, repeats }: Sample & { readonly repeats: RepeatCounts }): Figures {
  const share = (bad + repeats.wrong) / Math.max(1, n + repeats.requests)
  return { n, bad, bound: upperBound({ n, bad }), repeats: { ...repeats, bound: upperBound(repeats) }, share }
}

type Figures = Pick<OperationEvidence, 'n' | 'bad' | 'bound' | 'repeats' | 'share'>

function summary(operation: string, counts: OperationCounts, now: number): OperationEvidence {
  const { callers, shapes, kinds, pace } = counts
  const sizes = { callers: callers.size, shapes: shapes.size, kinds: seenKinds(kinds) }
  return evidenceOf(operation, { ...counts, ...sizes, perDay: pace.perDay(now) })
}

/** Sums of an operation, wherever they were counted. */
interface CountedOperation extends Omit<OperationCounts, 'callers' | 'shapes' | 'kinds' | 'pace'> {
  readonly callers: number
  readonly shapes: number
  readonly kinds: readonly SeenKind[]
  readonly perDay: number | undefined
}

/** Returns the evidence that the sums of an operation are. */
export function evidenceOf(operation: string, counts: CountedOperation): OperationEvidence {
  const { comparisons, outcomes, callers, shapes, kinds, perDay, uncompared, booked, firstAt, lastAt } = counts
  const { match: matches, expected, noise, race: races, inconclusive } = outcomes
  const { mismatch: mismatches, transient: transients, error: errors } = outcomes
  return {
    ...{ operation, comparisons, ...figuresOf(counts) },
    ...{ matches, expected, noise, races, mismatches, transients, errors, inconclusive },
    ...{ callers, shapes, kinds, ...(perDay !== undefined && { perDay }), uncompared: { ...uncompared }, booked: { ...booked } },
    ...{ firstAt, lastAt },
  }
}
