/** The times that a fleet goes by. */
export interface FleetClocks {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
  /** Calls a function again and again, after so many milliseconds. Returns a function that ends this. */
  readonly repeat: (run: () => void, ms: number) => () => void
}

/** Returns what a promise resolves with, or `late` if that takes longer than `ms` milliseconds. */
export function atMost<T, L>(promise: Promise<T>, late: L, ms: number, { repeat }: Pick<FleetClocks, 'repeat'>): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const end = repeat(() => {
      end()
      resolve(late)
    }, ms)
    promise.then(resolve, reject).finally(end)
  })
}

/** Resolves after `ms` milliseconds. */
export function pause(ms: number, { repeat }: Pick<FleetClocks, 'repeat'>): Promise<void> {
  return new Promise((resolve) => {
    const end = repeat(() => {
      end()
      resolve()
    }, ms)
  })
}
