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
