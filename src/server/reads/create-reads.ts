import type { Report } from '../../admin/report/report.ts'
import { judgeCutover, TARGET } from '../../migrate/evidence/cutover.ts'
import type { Migration } from '../../migrate/migration.ts'
import { operationsOf, type Tables } from '../../tables/tables.ts'
import type { JoinedFleet } from '../join-fleet.ts'
import type { Reads } from './reads.ts'

interface ReadsParts {
  readonly migration: Migration
  readonly joined: JoinedFleet | undefined
  readonly reportNow: () => Report | Promise<Report>
  readonly tables: Pick<Tables, 'mappings'>
}

export function createReads({ migration, joined, reportNow, tables }: ReadsParts): Reads {
  const own = migration.report
  const evidence = async () => (await joined?.evidence.report.evidence()) ?? own.evidence()
  const clients = async () => (await joined?.answers.clients())?.answer ?? own.clients()
  return {
    modes: migration.modes.state,
    evidence,
    report: async () => reportNow(),
    clients,
    async cutover({ withoutV1 = false, target = TARGET } = {}) {
      const [known, uses] = await Promise.all([evidence(), clients()])
      return judgeCutover({
        target,
        withoutV1,
        evidence: known.operations,
        traffic: new Map(Object.entries(known.traffic)),
        clients: uses,
        openCircuits: new Map(Object.entries(own.openCircuits())),
        rollouts: migration.modes.rollouts(),
        operations: operationsOf(tables),
      })
    },
  }
}
