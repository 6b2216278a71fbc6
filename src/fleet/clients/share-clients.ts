import type { Migration } from '../../migrate/migration.ts'
import type { Operation } from '../../tables/operation.ts'
import { UNCOUNTED } from '../evidence/counters.ts'
import type { Epochs } from '../evidence/epochs.ts'
import { evidenceNames } from '../evidence/evidence-names.ts'
import type { Fleet } from '../fleet.ts'
import type { FleetClocks } from '../fleet-clocks.ts'
import { sharedTimeOf } from '../store-clock.ts'
import { createClientReader, type FleetClients } from './client-reader.ts'
import { createClientsPart } from './clients-part.ts'

/** Reads the clients of the epoch. Rejects as `Store.read` does. */
export type ReadFleetClients = () => Promise<FleetClients>

interface ClientsOrigin {
  readonly clocks: Pick<FleetClocks, 'now'>
  readonly operations: readonly Operation[]
  /** The store is as old as this process. */
  readonly isNewStore: boolean
}

/** Shares with the fleet which client calls what. Call it before earlier records are read back. */
export function shareClients(
  { modes, counting, follow }: Pick<Migration, 'modes' | 'counting' | 'follow'>,
  fleet: Pick<Fleet, 'add' | 'soon' | 'store' | 'time'>,
  epochs: Pick<Epochs, 'now' | 'onBegin'>,
  { clocks, operations, isNewStore }: ClientsOrigin,
): ReadFleetClients {
  const part = createClientsPart({
    ...{ nth: epochs.now().nth, flush: modes.flush, soon: fleet.soon },
    timeOf: (at) => sharedTimeOf(at, { time: fleet.time, now: clocks.now }),
    uncounted: (nth, calls) => ({ kind: 'add', name: evidenceNames({ nth, hash: '' }).traffic, sums: { [UNCOUNTED]: calls } }),
  })
  // Nobody has told a new store of what is read back.
  if (isNewStore) follow(part.entry)
  else counting.followOwn(part.entry)
  epochs.onBegin(() => part.begin(epochs.now().nth))
  fleet.add(part)
  const read = createClientReader(fleet.store, operations)
  return () => read(epochs.now().nth)
}
