/** A token bucket: allows `most` at once, and then an even rate. */
export interface Bucket {
  /** Takes one token if there is one. */
  take(): boolean
  /** Milliseconds until there is a token. */
  wait(): number
}

export interface BucketSettings {
  /** Maximum tokens that it holds. */
  readonly most: number
  /** Milliseconds in which it fills. */
  readonly fillMs: number
}

/** Creates a full bucket; `now` is a monotonic clock in milliseconds. */
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
