import type { PartState } from '../part.ts'

/** Observations that the store does not have yet. Memory is bounded, and only clean ones make room. */
export interface WaitingObservations<T> {
  add(observation: T, isBad: boolean): void
  /** Hands over the oldest ones. */
  take(most: number): readonly T[]
  /** Counts a clean one as dropped that will not be handed over. */
  drop(): void
  counts(): Pick<PartState, 'waiting' | 'dropped' | 'lost'>
  /** Begins to count anew what has found no room. */
  forgive(): void
}

/** Maximum observations that wait. */
export const MOST_WAITING = 100_000

export function createWaiting<T extends { readonly at: number }>(most: number = MOST_WAITING): WaitingObservations<T> {
  let clean: T[] = []
  let bad: T[] = []
  let [dropped, lost] = [0, 0]
  /** Makes room for one more. Returns false if there is none. */
  const makeRoom = (isBad: boolean): boolean => {
    if (clean.length + bad.length < most) return true
    const hasClean = isBad && clean.pop() !== undefined
    if (hasClean || !isBad) dropped += 1
    else lost += 1
    return hasClean
  }
  return {
    add(observation, isBad) {
      if (makeRoom(isBad)) (isBad ? bad : clean).push(observation)
    },
    take(count) {
      const taken: T[] = []
      let [nthClean, nthBad] = [0, 0]
      while (taken.length < count) {
        const [a, b] = [clean[nthClean], bad[nthBad]]
        const next = a && (!b || a.at <= b.at) ? a : b
        if (!next) break
        if (next === a) nthClean += 1
        else nthBad += 1
        taken.push(next)
      }
      clean = clean.slice(nthClean)
      bad = bad.slice(nthBad)
      return taken
    },
    drop() {
      dropped += 1
    },
    counts: () => ({ waiting: clean.length + bad.length, dropped, lost }),
    forgive() {
      dropped = 0
      lost = 0
    },
  }
}
