import type { Sample } from '../../migrate/evidence/evidence.ts'
import type { Store } from '../../store/store.ts'
import type { Sums } from '../../store/store-change.ts'
import { fieldOf } from '../evidence/evidence-names.ts'
import { type FleetReading, reading } from '../part.ts'

/** What all replicas know of v2's answers, as far as rollouts look at it. */
export interface KnownEvidence {
  readings(isLeader: boolean): readonly FleetReading[]
  /** Reads it now. Rejects as `Store.read` does. */
  read(): Promise<void>
  of(operation: string): Sample | undefined
}

interface KnownSources {
  readonly store: Pick<Store, 'read'>
  /** The name of the sums of the present epoch. */
  readonly name: () => string
  readonly ticks: () => number
}

/** Milliseconds between two readings: these sums are large, and are read anew before a share grows. */
const READ_EVERY_MS = 5000

export function createKnownEvidence({ store, name, ticks }: KnownSources): KnownEvidence {
  let current = ''
  let sums: Sums = {}
  let read = reading('sums', current, () => {})
  let readAt = Number.NEGATIVE_INFINITY
  const follow = () => {
    if (name() === current) return
    current = name()
    sums = {}
    readAt = Number.NEGATIVE_INFINITY
    read = reading('sums', current, (found) => {
      sums = found
    })
  }
  return {
    readings(isLeader) {
      follow()
      if (!isLeader || ticks() - readAt < READ_EVERY_MS) return []
      readAt = ticks()
      return [read]
    },
    async read() {
      follow()
      const [found] = await store.read([read.read])
      read.take(found)
    },
    of(operation) {
      const n = sums[fieldOf('n', operation)]
      return n === undefined ? undefined : { n, bad: sums[fieldOf('bad', operation)] ?? 0 }
    },
  }
}
