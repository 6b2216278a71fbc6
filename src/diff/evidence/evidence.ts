import type { ComparisonOutcome } from '../judge/judge.ts'
import { cleanNeeded, type Sample, upperBound } from './bound.ts'
import { COLLAPSE, type CollapseSettings, createCollapse } from './collapse.ts'
import { type Observation, WEIGHTS } from './observation.ts'
import { wrongOf } from './wrong.ts'

/** The evidence about one operation. All members but `comparisons` count observations: identical comparisons within a window are one. */
export interface OperationEvidence {
  readonly operation: string
  /** Answers that were compared, new observations or not. */
  readonly comparisons: number
  /** Observations that count for or against v2: clean and bad ones. */
  readonly n: number
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
  /** Upper end of the anytime-valid 95 % confidence interval for the share of wrong answers, 0–1. */
  readonly bound: number
  /** Times of the first and the last comparison, in milliseconds since 1970. */
  readonly firstAt: number
  readonly lastAt: number
}

export interface Evidence {
  /**
   * Counts one comparison, made now or at the given time (milliseconds) for one that is read back from a record.
   * Returns true for a new observation: only those are worth recording.
   */
  observe(observation: Observation, at?: number): boolean
  of(operation: string): OperationEvidence | undefined
  all(): readonly OperationEvidence[]
  /** Drops the evidence about one operation, or all of it. Old answers prove nothing once v2 or its tables have changed. */
  reset(operation?: string): void
}

/** Maximum distinct callers, and shapes, that are counted for one operation. */
export const DISTINCT = 10_000

interface Counts {
  comparisons: number
  readonly outcomes: { [O in ComparisonOutcome]: number }
  readonly callers: Set<string>
  readonly shapes: Set<string>
  readonly firstAt: number
  lastAt: number
}

/** `now` returns milliseconds since 1970. */
export function createEvidence(now: () => number, collapse: CollapseSettings = COLLAPSE): Evidence {
  const operations = new Map<string, Counts>()
  let isNew = createCollapse(collapse)
  const countsOf = (operation: string, at: number) => {
    const counts = operations.get(operation) ?? newCounts(at)
    operations.set(operation, counts)
    return counts
  }
  return {
    observe(observation, at = now()) {
      const counts = countsOf(observation.operation, at)
      counts.comparisons += 1
      counts.lastAt = at
      addUpTo(counts.callers, observation.caller)
      addUpTo(counts.shapes, observation.shape)
      const counted = isNew(observation, at)
      if (counted) counts.outcomes[observation.outcome] += 1
      return counted
    },
    of(operation) {
      const counts = operations.get(operation)
      return counts && summary(operation, counts)
    },
    all: () => [...operations].map(([operation, counts]) => summary(operation, counts)).sort(byOperation),
    reset(operation) {
      if (operation === undefined) {
        operations.clear()
        isNew = createCollapse(collapse)
      } else {
        operations.delete(operation)
      }
    },
  }
}

/** Returns how many more clean observations bring the bound down to `target`. */
export function moreNeeded(evidence: OperationEvidence, target: number): number {
  return cleanNeeded(sampleOf(evidence), target)
}

export function sampleOf({ n, ...counts }: Pick<OperationEvidence, 'n' | 'mismatches' | 'transients' | 'errors'>): Sample {
  return { n, bad: wrongOf(counts) }
}

function newCounts(at: number): Counts {
  const outcomes = { match: 0, expected: 0, noise: 0, race: 0, mismatch: 0, transient: 0, error: 0, inconclusive: 0 }
  return { comparisons: 0, outcomes, callers: new Set(), shapes: new Set(), firstAt: at, lastAt: at }
}

function addUpTo(set: Set<string>, name: string): void {
  if (set.size < DISTINCT) set.add(name)
}

function summary(operation: string, { comparisons, outcomes, callers, shapes, firstAt, lastAt }: Counts): OperationEvidence {
  const weighed = Object.entries(outcomes) as [ComparisonOutcome, number][]
  const n = weighed.reduce((sum, [outcome, count]) => (WEIGHTS[outcome] === 'nothing' ? sum : sum + count), 0)
  const {
    match: matches,
    expected,
    noise,
    race: races,
    mismatch: mismatches,
    transient: transients,
    error: errors,
    inconclusive,
  } = outcomes
  const counted = { operation, comparisons, n, matches, expected, noise, races, mismatches, transients, errors, inconclusive }
  return { ...counted, callers: callers.size, shapes: shapes.size, bound: upperBound(sampleOf(counted)), firstAt, lastAt }
}

function byOperation(a: OperationEvidence, b: OperationEvidence): number {
  return a.operation < b.operation ? -1 : 1
}
