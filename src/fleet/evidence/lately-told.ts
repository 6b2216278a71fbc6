/** What the store has lately been told. It may lose a second of that, if it dies. */
export interface Told<T> {
  add(observations: readonly T[]): void
  /** The store has lost something. */
  lost(): void
  /** Returns what the store is to be told once more. */
  again(): readonly T[]
}

/** Milliseconds for which observations are kept that the store has, and the maximum of them. */
const KEPT_MS = 10_000
const MOST = 5000

/** `now` gives milliseconds. */
export function createTold<T>(now: () => number): Told<T> {
  let told: readonly { readonly one: T; readonly at: number }[] = []
  let isLost = false
  return {
    add(observations) {
      const at = now()
      told = [...told.filter((one) => at - one.at < KEPT_MS), ...observations.map((one) => ({ one, at }))].slice(-MOST)
    },
    lost() {
      isLost = true
    },
    again() {
      if (!isLost) return []
      isLost = false
      return told.map(({ one }) => one)
    },
  }
}
