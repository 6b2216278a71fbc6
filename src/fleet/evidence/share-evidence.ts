import type { Migration } from '../../migrate/migration.ts'
import type { Fleet } from '../fleet.ts'
import type { FleetClocks } from '../fleet-clocks.ts'
import { declaredSums, trafficSums } from './counters.ts'
import { createEpochs, type EpochOrigin, type Epochs, epochHash } from './epochs.ts'
import { createEvidencePart } from './evidence-part.ts'
import { createFleetReport, type FleetReport } from './fleet-report.ts'
import { createSnapshots, type TakeSnapshot } from './fleet-snapshot.ts'
import { createRestored } from './restored.ts'

/** What a fleet knows of the migration. */
export interface FleetEvidence {
  readonly epochs: Epochs
  readonly report: FleetReport
  readonly snapshot: TakeSnapshot
}

interface EvidenceOrigin extends EpochOrigin {
  /** The store is new. Otherwise it was told in their time of the records that are read back. */
  readonly isNewStore: boolean
}

/** Shares what a replica counts with its fleet. Call it before earlier records are read back. */
export function shareEvidence(
  { ledger, counting, follow, report, note }: Migration,
  fleet: Fleet,
  { now }: FleetClocks,
  { isNewStore, ...origin }: EvidenceOrigin,
): FleetEvidence {
  const { inventory, expected } = ledger
  const epochs = createEpochs({ ...origin, store: fleet.store, now, note })
  const restored = isNewStore ? createRestored(ledger.evidence, now) : undefined
  if (restored) follow(restored.entry)
  const part = createEvidencePart({
    restored,
    ...{ replica: fleet.id, names: epochs.names(), now, time: fleet.time, soon: fleet.soon, oldestMs: counting.oldestMs },
    counters: { traffic: () => trafficSums(inventory), declared: () => declaredSums(expected) },
  })
  counting.followOwn(part.entry)
  counting.followTallies(part.tally)
  epochs.onBegin(() => part.begin(epochs.names()))
  fleet.add(epochs)
  fleet.add(part)
  const snapshot = createSnapshots(fleet, epochs, epochHash(origin))
  return { epochs, snapshot, report: createFleetReport({ snapshot, names: epochs.names, own: report, now: fleet.time }) }
}
