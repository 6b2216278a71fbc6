import { setTimeout as delay } from 'node:timers/promises'
import { type Batch, type Store, StoreDown } from '../../src/fleet/store/store.ts'

/** What a store does wrong: it refuses at once, loses its answers, or takes everything and answers nothing. */
export type Broken = 'refuses' | 'loses answers' | 'is silent'

/** A store that a test can break. */
export interface BreakableStore {
  readonly store: Store
  /** Every batch that was sent, whatever became of it. */
  readonly sent: readonly Batch[]
  /** Undefined: it is well. */
  broken: Broken | undefined
  /** Milliseconds that each answer takes longer. */
  slowMs: number
  /** Another store in its place, as after a loss. */
  inner: Store
}

export function breakableStore(given: Store): BreakableStore {
  const sent: Batch[] = []
  const unanswered = new Set<() => void>()
  let broken: Broken | undefined
  const ask = async <T>(call: () => Promise<T>): Promise<T> => {
    if (broken === 'refuses') throw new StoreDown('nothing listens there')
    if (broken === 'is silent') {
      await new Promise<void>((resolve) => unanswered.add(resolve))
      throw new StoreDown('the connection was lost')
    }
    if (breakable.slowMs > 0) await delay(breakable.slowMs)
    const found = await call()
    if (broken === 'loses answers') throw new StoreDown('the answer was lost')
    return found
  }
  const store: Store = {
    exchange(batch) {
      sent.push(batch)
      return ask(() => breakable.inner.exchange(batch))
    },
    read: (reads) => ask(() => breakable.inner.read(reads)),
    replace: (...document) => ask(() => breakable.inner.replace(...document)),
    onNews: (listener) => breakable.inner.onNews(listener),
    close: () => breakable.inner.close(),
  }
  const breakable: BreakableStore = {
    ...{ store, sent, inner: given, slowMs: 0 },
    get broken() {
      return broken
    },
    set broken(next) {
      broken = next
      for (const resolve of unanswered) resolve()
      unanswered.clear()
    },
  }
  return breakable
}
