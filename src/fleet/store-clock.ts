import type { FleetClocks } from './fleet-clocks.ts'

/** The time that all replicas of a store agree on, even if the clock of one of them is wrong or steps. */
export interface StoreClock {
  /** Milliseconds since 1970 by the clock of the store; by that of this replica until the store has told its time, or if both agree. */
  time(): number
  /** Takes the time of the store, in milliseconds since 1970. */
  heard(storeTime: number): void
}

/** A smaller difference in milliseconds may be no more than the way to the store. */
const AGREE_MS = 5000

export function createStoreClock({ now, ticks }: Pick<FleetClocks, 'now' | 'ticks'>): StoreClock {
  let base: number | undefined
  return {
    time() {
      const own = now()
      const shared = base === undefined ? own : base + ticks()
      return Math.abs(shared - own) < AGREE_MS ? own : shared
    },
    heard(storeTime) {
      base = storeTime - ticks()
    },
  }
}

/** Returns the time of all of what a replica dated by its own clock (RFC 3339), in milliseconds since 1970. */
export function sharedTimeOf(at: string, { time, now }: Pick<StoreClock, 'time'> & Pick<FleetClocks, 'now'>): number {
  return Date.parse(at) + time() - now()
}
