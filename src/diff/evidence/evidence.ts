import { cleanNeeded, type Sample, upperBound } from './bound.ts'
import { COLLAPSE, type CollapseSettings, createCollapse, isCounted, type Place } from './collapse.ts'
import type { Observation } from './observation.ts'
import { countComparison, countTally, newCounts, type OperationCounts, type OperationTally, type RepeatCounts } from './operation-counts.ts'
import type { UncomparedCounts } from './uncompared.ts'

/** The evidence about one operation. docs/reference/evidence.md says what each number claims. */
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
  /** New observations per day at the pace of the last 24 hours; absent while that is unknown. */
  readonly perDay?: number
  /** Requests that were not compared, or whose comparison has no result, by reason. */
  readonly uncompared: UncomparedCounts
  /** Times of the first and the last comparison, in milliseconds since 1970. */
  readonly firstAt: number
  readonly lastAt: number
}

export interface Repeats extends RepeatCounts {
  /** Like the bound of the observations. */
  readonly bound: number
}

export interface Evidence {
  /**
   * Counts one comparison, made now or at the given time (milliseconds) for one that is read back from a record.
   * Returns undefined if its pair and outcome were counted in the last ten minutes. It is not worth a record then, and the caller counts it
   * with `add`.
   */
  observe(observation: Observation, at?: number): Place | undefined
  /** Adds what was counted without records. */
  add(operation: string, tally: OperationTally, at?: number): void
  of(operation: string): OperationEvidence | undefined
  all(): readonly OperationEvidence[]
  /** Drops the evidence about one operation, or all of it. Old answers prove nothing once v2 or its tables have changed. */
  reset(operation?: string): void
}

/** `now` returns milliseconds since 1970. */
export function createEvidence(now: () => number, collapse: CollapseSettings = COLLAPSE): Evidence {
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
    observe(observation, at = now()) {
      const placed = place(observation, at)
      if (!isCounted(placed)) return undefined
      countComparison(countsOf(observation.operation, at), observation, placed, at)
      return placed
    },
    add: (operation, tally, at = now()) => countTally(countsOf(operation, at), tally, at),
    of(operation) {
      const counts = operations.get(operation)
      return counts && summary(operation, counts, latest)
    },
    all: () => [...operations].map(([operation, counts]) => summary(operation, counts, latest)).sort(byOperation),
    reset(operation) {
      if (operation === undefined) {
        operations.clear()
        place = createCollapse(collapse)
      } else {
        operations.delete(operation)
      }
    },
  }
}

/** Returns the evidence of an operation about which nothing is known. */
export function noEvidence(operation: string): OperationEvidence {
  return summary(operation, newCounts(0), 0)
}

/** Returns how many more clean observations bring the bound down to `target`. */
export function moreNeeded(evidence: Sample, target: number): number {
  return cleanNeeded(evidence, target)
}

/** Returns the counts of both strata with what they say. */
export function figuresOf({ n, bad, repeats }: Sample & { readonly repeats: RepeatCounts }): Figures {
  const share = (bad + repeats.wrong) / Math.max(1, n + repeats.requests)
  return { n, bad, bound: upperBound({ n, bad }), repeats: { ...repeats, bound: upperBound(repeats) }, share }
}

type Figures = Pick<OperationEvidence, 'n' | 'bad' | 'bound' | 'repeats' | 'share'>

function summary(operation: string, counts: OperationCounts, now: number): OperationEvidence {
  const { callers, shapes, pace } = counts
  return evidenceOf(operation, { ...counts, callers: callers.size, shapes: shapes.size, perDay: pace.perDay(now) })
}

/** Sums of an operation, wherever they were counted. */
interface CountedOperation extends Omit<OperationCounts, 'callers' | 'shapes' | 'pace'> {
  readonly callers: number
  readonly shapes: number
  readonly perDay: number | undefined
}

/** Returns the evidence that the sums of an operation are. */
export function evidenceOf(operation: string, counts: CountedOperation): OperationEvidence {
  const { comparisons, outcomes, callers, shapes, perDay, uncompared, firstAt, lastAt } = counts
  const { match: matches, expected, noise, race: races, inconclusive } = outcomes
  const { mismatch: mismatches, transient: transients, error: errors } = outcomes
  return {
    ...{ operation, comparisons, ...figuresOf(counts) },
    ...{ matches, expected, noise, races, mismatches, transients, errors, inconclusive },
    ...{ callers, shapes, ...(perDay !== undefined && { perDay }), uncompared: { ...uncompared } },
    ...{ firstAt, lastAt },
  }
}

function byOperation(a: OperationEvidence, b: OperationEvidence): number {
  return a.operation < b.operation ? -1 : 1
}
