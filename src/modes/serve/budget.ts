import { createBucket } from '../../limits/bucket.ts'

/** How often something may happen. */
export interface Budget {
  /** Takes one, if there is one left. Strangers get half of them at most, so that a crowd leaves something for the others. */
  take(isStranger: boolean): boolean
  readonly counts: { readonly taken: number; readonly refused: number }
}

const MINUTE = 60_000

/** So many a minute, evenly; `now` is a time in milliseconds. */
export function createBudget(perMinute: number, now: () => number): Budget {
  const counts = { taken: 0, refused: 0 }
  const bucket = createBucket({ most: perMinute, fillMs: MINUTE }, now)
  const ofStrangers = createBucket({ most: Math.ceil(perMinute / 2), fillMs: MINUTE }, now)
  return {
    take(isStranger) {
      const granted = (!isStranger || ofStrangers.take()) && bucket.take()
      counts[granted ? 'taken' : 'refused'] += 1
      return granted
    },
    counts,
  }
}
