import type { Migration } from '../../migrate/migration.ts'
import type { Fleet } from '../fleet.ts'
import type { FleetClocks } from '../fleet-clocks.ts'
import { createSharedNoise } from './shared-noise.ts'
import { createSharedRedactionKey } from './shared-redaction-key.ts'
import { createSharedWrites } from './shared-writes.ts'

/** Shares what the replicas of a fleet need to judge differences alike: noise, writes, and the key of hashes. */
export function shareJudging({ journal, modes }: Migration, fleet: Fleet, { ticks }: FleetClocks): void {
  const { judging, operations, redaction } = journal
  const writes = createSharedWrites({ ...modes.witnesses, operations, fleet, ticks })
  judging.others.askBy(writes.told)
  fleet.add(createSharedNoise(judging.noise, fleet))
  fleet.add(createSharedRedactionKey(redaction.key))
  fleet.add(writes)
}
