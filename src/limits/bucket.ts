/** How often something may happen: so many at once, and then at an even pace (a token bucket). */
export interface Bucket {
  /** Takes one, if there is one. */
  take(): boolean
  /** Milliseconds until there is one. */
  wait(): number
}

export interface BucketSettings {
  /** How many it holds. */
  readonly most: number
  /** Milliseconds that it needs to fill. */
  readonly fillMs: number
}

/** A full bucket; `now` is a monotonic clock in milliseconds. */
export function createBucket({ most, fillMs }: BucketSettings, now: () => number): Bucket {
  let left = most
  let filled = now()
  const fill = () => {
    const at = now()
    left = Math.min(most, left + ((at - filled) / fillMs) * most)
    filled = at
  }
  return {
    take() {
      fill()
      if (left < 1) return false
      left -= 1
      return true
    },
    wait() {
      fill()
      return Math.max(0, ((1 - left) / most) * fillMs)
    },
  }
}
