import type { Client } from '../../migrate/clients.ts'
import type { DeclarationReport } from '../../migrate/compare/expected.ts'
import type { OperationEvidence } from '../../migrate/evidence/evidence.ts'
import type { Ledger } from '../../migrate/records/record-file.ts'
import type { ReportFleet } from './report-fleet.ts'

/** What a report is made of. */
export interface ReportCounts {
  readonly evidence: readonly OperationEvidence[]
  readonly traffic: ReadonlyMap<string, number>
  readonly clients: readonly Client[]
  readonly uncounted: number
  readonly declarations: readonly DeclarationReport[]
}

/** What all replicas of a fleet have counted. */
export interface FleetCounted extends ReportCounts {
  readonly fleet: ReportFleet
}

/** Returns what one process has counted, or a command has read. */
export function countedBy({ evidence, inventory, expected }: Ledger): ReportCounts {
  const [traffic, clients, uncounted] = [inventory.traffic(), inventory.clients(), inventory.uncounted()]
  return { evidence: evidence.all(), traffic, clients, uncounted, declarations: expected.report() }
}
