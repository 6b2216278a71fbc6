import type { Beat, Store } from '../store/store.ts'
import type { FleetClocks } from './fleet-clocks.ts'
import { BEAT_MS, type FleetReplica, readBeat, type UnreadReplica, unreadOf } from './heartbeat.ts'
import type { FleetReading } from './part.ts'

/** The replicas that the store has heard of lately. */
export interface Roll {
  /** What an exchange reads for it: once a second, because a hundred replicas would read a hundred heartbeats each at every turn. */
  readings(): readonly FleetReading[]
  replicas(): readonly FleetReplica[]
  /** Those of them whose heartbeats cannot be read. */
  unread(): readonly UnreadReplica[]
  /** The same, read from the store now. Rejects as `Store.read` does. */
  read(): Promise<readonly FleetReplica[]>
}

/** `heard` is given the time of the store, in milliseconds since 1970. */
export function createRoll(
  store: Pick<Store, 'read'>,
  id: string,
  { ticks }: Pick<FleetClocks, 'ticks'>,
  heard: (storeTime: number) => void,
): Roll {
  let at = Number.NEGATIVE_INFINITY
  let beats: readonly Beat[] = []
  const reading: FleetReading = {
    read: { kind: 'replicas', name: '' },
    take(found) {
      at = ticks()
      if (found) heard(found.stamp / 1000)
      beats = (found?.value as readonly Beat[] | undefined) ?? []
    },
  }
  const replicas = () => {
    const elapsed = ticks() - at
    return beats.flatMap((beat) => readBeat({ ...beat, agoMs: beat.agoMs + elapsed }, id) ?? [])
  }
  const unread = () => {
    const elapsed = ticks() - at
    return beats.filter((beat) => !readBeat(beat, id)).map((beat) => unreadOf({ ...beat, agoMs: beat.agoMs + elapsed }))
  }
  return {
    readings: () => (ticks() - at >= BEAT_MS ? [reading] : []),
    replicas,
    unread,
    async read() {
      const [found] = await store.read([reading.read])
      reading.take(found)
      return replicas()
    },
  }
}
