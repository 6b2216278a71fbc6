import type { Kinds, StoreFound, StoreRead } from '../store/store.ts'
import type { StoreChange } from '../store/store-change.ts'

/** One matter that the replicas share. It learns what others did by what the store holds, and never waits for it. */
export interface Part {
  /**
   * Hands over what is new since the last call. The fleet sends it until the store has it. It is called before each exchange: at most every
   * 100 ms, and when somebody asks about the fleet.
   */
  changes(): readonly StoreChange[]
  /** What it reads in each exchange; small things only. */
  readings(): readonly FleetReading[]
  /** What the store does not have yet. Without it, nothing ever waits. */
  state?(): PartState
  /** Somebody asks about the fleet: the next `changes` brings what is collected less often, too. */
  asked?(): void
  /** The store has lost what it had: it came back empty or older. What must not be lost is handed over again. */
  lost?(): void
}

/** Numbers of observations. */
export interface PartState {
  /** What `changes` has not handed over yet. */
  readonly waiting: number
  /** Clean observations that had no room. */
  readonly dropped: number
  /** Bad observations that had no room: the fleet can no longer be judged. */
  readonly lost: number
  /** Age of the oldest work under way that will bring an observation, in milliseconds; absent if there is none. */
  readonly oldestMs?: number | undefined
}

/** Something to read, and what takes it. */
export interface FleetReading {
  readonly read: StoreRead
  take(found: StoreFound): void
}

/**
 * Reads again only what is newer than what was taken: `reading('texts', 'open:7', (reasons) => …)`. Make it once for each name; it
 * remembers the stamp.
 */
export function reading<K extends keyof Kinds>(kind: K, name: string, take: (value: Kinds[K]) => void): FleetReading {
  let known: number | undefined
  return {
    get read() {
      return { kind, name, ...(known !== undefined && { known }) }
    },
    take(found) {
      if (!found) return
      known = found.stamp
      take(found.value as Kinds[K])
    },
  }
}
