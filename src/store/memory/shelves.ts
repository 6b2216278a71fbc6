import type { Document, LogItem } from '../store.ts'
import { createShelf, type Shelf } from './shelf.ts'

/** A value with the stamp of its last change. */
export interface Stamped<T> {
  readonly value: T
  readonly stamp: number
}

/** Values by field. They change in place. */
export interface StampedFields<T> {
  readonly value: Map<string, T>
  stamp: number
}

/** Everything that a store in memory holds. */
export interface Shelves {
  readonly sums: Shelf<StampedFields<number>>
  readonly texts: Shelf<StampedFields<string>>
  readonly logs: Shelf<Stamped<readonly LogItem[]>>
  readonly documents: Shelf<Stamped<Document>>
  readonly leases: Shelf<Stamped<string>>
  /** The time for which each key is claimed. */
  readonly claims: Shelf<number>
  /** Members by the name and field that they count for. */
  readonly members: Shelf<Set<string>>
  readonly beats: Shelf<{ readonly text: string; readonly at: number }>
  /** The last number of each replica. */
  readonly batches: Shelf<number>
  /** A stamp above all before it, and above the given one: microseconds of the clock, unless it stood still or stepped back. */
  nextStamp(above?: number): number
}

export function createShelves(now: () => number): Shelves {
  let last = 0
  return {
    nextStamp(above = 0) {
      last = Math.max(now() * 1000, last + 1, above + 1)
      return last
    },
    sums: createShelf(now),
    texts: createShelf(now),
    logs: createShelf(now),
    documents: createShelf(now),
    leases: createShelf(now),
    claims: createShelf(now),
    members: createShelf(now),
    beats: createShelf(now),
    batches: createShelf(now),
  }
}
