import type { ComparisonOutcome } from '../judge/judge.ts'
import type { Place } from './collapse.ts'
import { type Observation, WEIGHTS } from './observation.ts'
import { createPace, type Pace } from './pace.ts'
import type { Uncompared, UncomparedCounts } from './uncompared.ts'

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
  readonly callers: Set<string>
  readonly shapes: Set<string>
  readonly pace: Pace
  readonly firstAt: number
  lastAt: number
}

/** Maximum distinct callers, and shapes, that are counted for one operation. */
export const DISTINCT = 10_000

export function newCounts(at: number): OperationCounts {
  const outcomes = noOutcomes()
  const repeats = { n: 0, bad: 0, requests: 0, wrong: 0 }
  const sets = { callers: new Set<string>(), shapes: new Set<string>(), pace: createPace() }
  return { comparisons: 0, n: 0, bad: 0, repeats, outcomes, uncompared: {}, ...sets, firstAt: at, lastAt: at }
}

export function noOutcomes(): OperationCounts['outcomes'] {
  return { match: 0, expected: 0, noise: 0, race: 0, mismatch: 0, transient: 0, error: 0, inconclusive: 0 }
}

/** Counts a comparison that is worth a record: an observation, or another outcome of its pair. */
export function countComparison(counts: OperationCounts, observation: Observation, { isFirst, isNewOutcome }: Place, at: number): void {
  const { outcome, caller, shape } = observation
  counts.comparisons += 1
  counts.lastAt = at
  if (isNewOutcome) counts.outcomes[outcome] += 1
  // A caller whom a side refused, or about whom nothing is known, is no caller.
  if (WEIGHTS[outcome] !== 'nothing') {
    addUpTo(counts.callers, caller)
    addUpTo(counts.shapes, shape)
  }
  if (isFirst) {
    counts.n += 1
    if (WEIGHTS[outcome] === 'bad') counts.bad += 1
    counts.pace.add(at)
  } else addRepeats(counts, repeatOf(observation))
}

export function countTally(counts: OperationCounts, { comparisons = 0, repeats, uncompared = {} }: OperationTally, at: number): void {
  counts.comparisons += comparisons
  counts.lastAt = at
  if (repeats) addRepeats(counts, repeats)
  addUncompared(counts, uncompared)
}

export function addUncompared({ uncompared }: Pick<OperationCounts, 'uncompared'>, more: UncomparedCounts): void {
  for (const why in more) uncompared[why as Uncompared] = (uncompared[why as Uncompared] ?? 0) + (more[why as Uncompared] ?? 0)
}

/** Returns what a repeat adds to the counts; nothing if it says nothing about v2. */
export function repeatOf({ outcome, weight = 1 }: Observation): RepeatCounts {
  const counted = WEIGHTS[outcome] === 'nothing' ? 0 : 1
  const bad = WEIGHTS[outcome] === 'bad' ? 1 : 0
  return { n: counted, bad, requests: counted * weight, wrong: bad * weight }
}

/** Adds the members of two objects of numbers. */
export function addCounts<T extends object>(a: T | undefined, b: T | undefined): T | undefined {
  if (!a || !b) return a ?? b
  const sum: Record<string, number> = { ...(a as Record<string, number>) }
  for (const [name, count] of Object.entries(b as Record<string, number>)) sum[name] = (sum[name] ?? 0) + count
  return sum as T
}

export function addRepeats({ repeats }: Pick<OperationCounts, 'repeats'>, more: RepeatCounts): void {
  repeats.n += more.n
  repeats.bad += more.bad
  repeats.requests += more.requests
  repeats.wrong += more.wrong
}

function addUpTo(set: Set<string>, name: string): void {
  if (set.size < DISTINCT) set.add(name)
}
