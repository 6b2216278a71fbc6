/** How often something may happen. */
export interface Budget {
  /** Takes one, if there is one left. */
  take(): boolean
  readonly counts: { readonly taken: number; readonly refused: number }
}

const MINUTE = 60_000

/** A bucket that holds `perMinute` and fills evenly; `now` is a time in milliseconds. */
export function createBudget(perMinute: number, now: () => number): Budget {
  const counts = { taken: 0, refused: 0 }
  let left = perMinute
  let filled = now()
  return {
    take() {
      const at = now()
      left = Math.min(perMinute, left + ((at - filled) / MINUTE) * perMinute)
      filled = at
      const granted = left >= 1
      if (granted) left -= 1
      counts[granted ? 'taken' : 'refused'] += 1
      return granted
    },
    counts,
  }
}
