import type { Report } from '../../admin/report/report.ts'
import type { Client } from '../../migrate/clients.ts'
import type { CutoverVerdict } from '../../migrate/evidence/cutover.ts'
import type { EvidenceReport } from '../../migrate/migration.ts'
import type { ModesState } from '../../migrate/modes/modes.ts'

/** What a program reads of a migration: what the admin port tells, as values. With a store, of all replicas. */
export interface Reads {
  /** The rules in force, and who put them there. */
  modes(): ModesState
  evidence(): Promise<EvidenceReport>
  report(): Promise<Report>
  clients(): Promise<readonly Client[]>
  /** Whether v2 can serve what it has while v1 stays, or, `withoutV1`, whether v1 can be switched off. */
  cutover(question?: { readonly withoutV1?: boolean; readonly target?: number }): Promise<CutoverVerdict>
}
