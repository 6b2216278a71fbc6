import type { Outcome } from '../judge/judge.ts'

/** What evidence, circuit and inventory count of one comparison: a `Comparison` is one. */
export interface Observation {
  readonly operation: string
  /** Hash of the caller. */
  readonly caller: string
  readonly shape: string
  readonly outcome: Outcome
}

/** How an outcome weighs in a rate: wrong answers count against v2, right ones for it, the others say nothing. */
export type Weight = 'clean' | 'bad' | 'nothing'

export const WEIGHTS: Readonly<Record<Outcome, Weight>> = {
  match: 'clean',
  expected: 'clean',
  noise: 'clean',
  mismatch: 'bad',
  error: 'bad',
  race: 'nothing',
  inconclusive: 'nothing',
}
