import type { FleetReading, Part } from './part.ts'

/**
 * The replica that decides for the fleet: the one that holds the lease `leader`. For a moment there may be two, each of which believes it: what
 * they decide is a version of a document, of which the store takes one.
 */
export interface Leader extends Part {
  /** True if this replica decides. It stops believing so before another one can have taken the lease. */
  isSelf(): boolean
  /** The replica that decides, as the store told it last; undefined if none does. */
  id(): string | undefined
  /** Gives the lease back with the next exchange. */
  resign(): void
}

interface LeaderSources {
  /** This replica. */
  readonly id: string
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
}

/** Milliseconds after which another replica decides, if the one that does renews nothing. It renews once a second. */
export const LEASE_MS = 3000

/** The clocks of two machines do not run at exactly the same pace. */
const MARGIN_MS = 100

export function createLeader({ id, ticks }: LeaderSources): Leader {
  let isResigned = false
  let holder: string | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  let until = Number.NEGATIVE_INFINITY
  const reading: FleetReading = {
    // Without a known stamp: that the lease is still held is news each time.
    read: { kind: 'lease', name: 'leader' },
    take(found) {
      holder = found?.value as string | undefined
      if (holder === id && !isResigned) until = askedAt + LEASE_MS - MARGIN_MS
      if (holder !== id) until = Number.NEGATIVE_INFINITY
    },
  }
  return {
    changes() {
      // The lease runs from when the store takes it, which is later than this.
      askedAt = ticks()
      return [{ kind: 'lease', name: 'leader', ms: isResigned ? 0 : LEASE_MS }]
    },
    readings: () => [reading],
    isSelf: () => ticks() < until,
    id: () => holder,
    resign() {
      isResigned = true
      until = Number.NEGATIVE_INFINITY
    },
  }
}
