import type { ComparisonOutcome } from '../judge/judge.ts'

/** What evidence, circuit and inventory count of one comparison. `Comparison` has these members. */
export interface Observation {
  readonly operation: string
  /** Hash that identifies the caller. */
  readonly caller: string
  readonly shape: string
  readonly outcome: ComparisonOutcome
  /** Requests that it stands for, if chance chose it: the inverse of its probability. Default: 1. */
  readonly weight?: number
}

/** Explains the unit of all evidence, wherever a person reads a number of observations. */
export const OBSERVATION =
  'An observation is the first comparison of one caller and one kind of request in ten minutes. ' +
  'More callers and other kinds of requests bring more; repeats bring none.'

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

/** True if v2 answered otherwise than v1 and nothing explains it, whether or not it did so again. */
export function isDifference(outcome: ComparisonOutcome): boolean {
  return outcome === 'mismatch' || outcome === 'transient'
}
