/** Numbers the records of rollouts, so that the last one is known even if the clock stepped back, and beyond restarts. */
export interface SaveOrder {
  /** Returns the number of a new record, which is above all others. */
  next(): number
  /** Notes the number of an earlier record. */
  saw(nth: number): void
}

export function createSaveOrder(): SaveOrder {
  let last = 0
  return {
    next: () => ++last,
    saw(nth) {
      last = Math.max(last, nth)
    },
  }
}
