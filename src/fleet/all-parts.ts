import type { StoreChange } from '../store/store-change.ts'
import type { FleetReading, Part } from './part.ts'
import { NOTHING, sumOf } from './part-states.ts'

/** The parts of a fleet as one. */
export interface AllParts extends Required<Part> {
  add(part: Part): void
  /** True if there is more to send than `changes` handed over. */
  hasMore(): boolean
}

/** The most changes of one batch: a replica that catches up must not keep the store from the others. */
const MOST_CHANGES = 10_000

export function createAllParts(): AllParts {
  const parts: Part[] = []
  let unsent: readonly StoreChange[] = []
  return {
    add: (part) => void parts.push(part),
    changes() {
      const all = [...unsent, ...parts.flatMap((part) => part.changes())]
      unsent = all.slice(MOST_CHANGES)
      return all.slice(0, MOST_CHANGES)
    },
    hasMore: () => unsent.length > 0,
    readings: (): readonly FleetReading[] => parts.flatMap((part) => part.readings()),
    state: () => sumOf([...parts.map((part) => part.state?.() ?? NOTHING), { ...NOTHING, waiting: unsent.length }]),
    lost() {
      for (const part of parts) part.lost?.()
    },
    asked() {
      for (const part of parts) part.asked?.()
    },
  }
}
