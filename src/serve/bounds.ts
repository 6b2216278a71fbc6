import { setImmediate } from 'node:timers/promises'

/** The times that a process goes by. Tests give their own. */
export interface Clocks {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
  /** Calls a function again and again, after so many milliseconds. Returns a function that ends this. */
  readonly repeat: (run: () => void, ms: number) => () => void
}

export const CLOCKS: Clocks = {
  now: Date.now,
  ticks: () => performance.now(),
  repeat(run, ms) {
    const timer = setInterval(run, ms).unref()
    return () => clearInterval(timer)
  },
}

/** Work that others can be served between. It yields where they can. */
export type Steps<Result> = Generator<undefined, Result>

/** Milliseconds after which others are served. */
const TURN = 5

/** Does work in turns of the event loop. `check` runs when others were served, and may throw. */
export async function inTurns<Result>(steps: Steps<Result>, check = () => {}): Promise<Result> {
  let since = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - since <= TURN) continue
    await setImmediate()
    check()
    since = performance.now()
  }
}

/** Does the same work in one turn, for what is known to be short. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const ONE = () => 1

/**
 * Options of an `LRUCache` for at most `most` entries, whose memory grows with them. With `max`, lru-cache allocates for all of them when the
 * cache is made, which takes a millisecond or two for 10,000.
 */
export const entries = (most: number) => ({ maxSize: most, sizeCalculation: ONE })

/** A token bucket: allows `most` at once, and then an even rate. */
export interface Bucket {
  /** Takes one token if there is one. */
  take(): boolean
  /** Milliseconds until there is a token. */
  wait(): number
}

interface BucketSettings {
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

/** A number of bytes, or of places, that all users share. */
export interface Budget {
  /** Takes `wanted` of them if that many are left. */
  take(wanted: number): boolean
  give(given: number): void
}

/** Calls `refused` when the budget is spent. */
export function createBudget(all: number, refused: () => void = () => {}): Budget {
  let left = all
  return {
    take(wanted) {
      if (wanted > left) {
        refused()
        return false
      }
      left -= wanted
      return true
    },
    give(given) {
      left += given
    },
  }
}

export type Holding = ReturnType<typeof createHolding>

/** What one user holds of a budget: it grows bit by bit, and goes back whole. */
export function createHolding(budget: Budget) {
  let held = 0
  let isOver = false
  return {
    /** Makes it this large at least. Returns false, and changes nothing, if the budget has not so much left, or if it went back already. */
    reach(size: number): boolean {
      if (size <= held) return true
      if (isOver || !budget.take(size - held)) return false
      held = size
      return true
    },
    /** Gives all of it back. Later calls have no effect. */
    release(): void {
      isOver = true
      budget.give(held)
      held = 0
    },
  }
}
