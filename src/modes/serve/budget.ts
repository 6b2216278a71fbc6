import { createBucket } from '../../serve/bounds.ts'

/** Limits how often something happens. */
export interface Budget {
  /** Takes one if any is left. Strangers get at most half, so that many of them leave some for other callers. */
  take(isStranger: boolean): boolean
  readonly counts: { readonly taken: number; readonly refused: number }
  /** Takes from what replicas share from now on. */
  shareBy(share: BudgetShare): void
}

/** What this process may take of a budget that replicas share. */
export type BudgetShare = Pick<Budget, 'take'>

const MINUTE = 60_000

/** Allows this many per minute, evenly; `now` returns milliseconds. */
export function createBudget(perMinute: number, now: () => number): Budget {
  const counts = { taken: 0, refused: 0 }
  const bucket = createBucket({ most: perMinute, fillMs: MINUTE }, now)
  const ofStrangers = createBucket({ most: Math.ceil(perMinute / 2), fillMs: MINUTE }, now)
  let share: BudgetShare = { take: (isStranger) => (!isStranger || ofStrangers.take()) && bucket.take() }
  return {
    take(isStranger) {
      const granted = share.take(isStranger)
      counts[granted ? 'taken' : 'refused'] += 1
      return granted
    },
    counts,
    shareBy(one) {
      share = one
    },
  }
}
