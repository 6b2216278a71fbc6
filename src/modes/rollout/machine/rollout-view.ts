import { cleanNeeded, type Sample, upperBound } from '../../../diff/evidence/bound.ts'
import { CIRCUIT } from '../../../diff/evidence/circuit.ts'
import { oddsOfExcess } from '../../../diff/evidence/excess.ts'
import { many } from '../../../diff/many.ts'
import { percent } from '../../../diff/percent.ts'
import type { RatioState } from '../sample-ratio.ts'

/** What a step has shown of one operation. */
export interface StepCounts {
  /** Requests of the callers of the share. */
  readonly requests: number
  /** Observations of v2's answers to them. */
  readonly observations: Sample
  /** Comparisons of these answers, repeats too. */
  readonly comparisons: Sample
}

/** An operation of the rollout that had requests in this step. */
export interface OperationView {
  readonly operation: string
  /** False for a write that no read can show. */
  readonly canBeJudged: boolean
  readonly step: StepCounts
  /** All that is known of v2's answers since the run began, whoever got them. */
  readonly run: Sample
  /** The failures in a row that speak against v2, as its circuit counts them. */
  readonly failures: Sample
}

/** All that the decisions about a rollout look at. */
export interface RolloutView {
  readonly operations: readonly OperationView[]
  /** Operations that the rule decides about and that had no request in this step. */
  readonly unused: number
  /** Why each open circuit of the rule opened, by operation id. */
  readonly open: Readonly<Record<string, string>>
  /** Those of them that only a person can close. */
  readonly stuck: readonly string[]
  /** Requests of the callers of the share since the last look. */
  readonly requests: number
  /** Requests since the last comparison that said something, and the milliseconds since then. */
  readonly unjudged: { readonly requests: number; readonly ms: number }
  /** Which share callers really got; undefined while the share is 0. */
  readonly ratio: RatioState | undefined
  /** Why records cannot be written, if so. */
  readonly unwritten: string | undefined
}

/** Odds that prove a signal: one that pauses wrongly costs time, so that 95 % are enough. */
const SIGNAL_ODDS = 20

/** Says why more answers than the target are wrong, proven by this step alone; undefined if that is not proven. */
export function excessIn({ operation, step }: OperationView, target: number): string | undefined {
  const { observations, comparisons } = step
  if (proves(observations, target)) return wrongIn(operation, observations)
  return proves(comparisons, target) ? differedIn(operation, comparisons) : undefined
}

/** Says that v2 fails more than a circuit allows, proven less strongly than a circuit needs it; undefined if that is not proven. */
export function failuresIn({ operation, failures }: OperationView): string | undefined {
  return proves(failures, CIRCUIT.errors) ? `v2 failed ${failures.bad} of the last ${failures.n} answers of ${operation}` : undefined
}

function proves(sample: Sample, allowed: number): boolean {
  return sample.bad > 0 && oddsOfExcess(sample, allowed) >= SIGNAL_ODDS
}

/**
 * Says what the evidence about an operation lacks to be inside the target; undefined if it lacks nothing. All that is known must prove it, and
 * nothing that the step itself has shown may contradict it: a clean past excuses no step (evidence §10).
 */
export function lackIn({ operation, canBeJudged, step, run }: OperationView, target: number): string | undefined {
  const { observations, comparisons } = step
  if (exceeds(observations, target)) return wrongIn(operation, observations)
  if (exceeds(comparisons, target)) return differedIn(operation, comparisons)
  if (!canBeJudged) return undefined
  if (observations.n === 0) return `${operation} has no observation in this step`
  const bound = upperBound(run)
  if (bound <= target) return undefined
  return `${operation} has a bound of ${percent(bound)} and needs ${many(cleanNeeded(run, target), 'more clean observation')}`
}

function exceeds({ n, bad }: Sample, target: number): boolean {
  return bad > target * n
}

function wrongIn(operation: string, { n, bad }: Sample): string {
  return `${operation} was wrong in ${bad} of ${many(n, 'observation')} of this step`
}

function differedIn(operation: string, { n, bad }: Sample): string {
  return `${operation} differed in ${bad} of ${many(n, 'comparison')} of this step`
}

/** Returns the new observations of the step, all operations together. */
export function observedIn({ operations }: Pick<RolloutView, 'operations'>): number {
  return operations.reduce((sum, { step }) => sum + step.observations.n, 0)
}
