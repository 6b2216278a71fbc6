/** Numbers notes and the records of rollouts, so that their order is known even if the clock stepped back, and beyond restarts. */
export interface SaveOrder {
  /** Returns the number of a new record, which is above all others. */
  next(): number
  /** Notes the number of an earlier record. */
  saw(nth: number): void
  /** Returns the highest number so far. */
  last(): number
}

export function createSaveOrder(): SaveOrder {
  let last = 0
  return {
    next: () => ++last,
    last: () => last,
    saw(nth) {
      last = Math.max(last, nth)
    },
  }
}
