import { createBucket } from '../limits/bucket.ts'

/** How often something may happen. */
export interface Budget {
  /** Takes one, if there is one left. */
  take(): boolean
  readonly counts: { readonly taken: number; readonly refused: number }
}

const MINUTE = 60_000

/** So many a minute, evenly; `now` is a time in milliseconds. */
export function createBudget(perMinute: number, now: () => number): Budget {
  const counts = { taken: 0, refused: 0 }
  const bucket = createBucket({ most: perMinute, fillMs: MINUTE }, now)
  return {
    take() {
      const granted = bucket.take()
      counts[granted ? 'taken' : 'refused'] += 1
      return granted
    },
    counts,
  }
}
