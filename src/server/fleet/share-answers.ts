import type { FleetAnswer, FleetAnswers } from '../../admin/fleet-routes.ts'
import { shareClients } from '../../fleet/clients.ts'
import { shareComparisons } from '../../fleet/comparisons.ts'
import type { Fleet, Leader } from '../../fleet/fleet.ts'
import type { FleetEvidence } from '../../fleet/report.ts'
import type { Comparison } from '../../migrate/records/record.ts'
import { fleetCounted } from './counted-report.ts'
import type { FleetSources } from './fleet-sources.ts'

/** Shares what people ask for, and answers for all replicas. If the store does not answer, it tells what this replica knows. */
export function shareAnswers(
  { config, migration, operations, clocks, isNewStore }: FleetSources & { readonly isNewStore: boolean },
  fleet: Fleet,
  leader: Pick<Leader, 'id'>,
  evidence: FleetEvidence,
): FleetAnswers {
  const readClients = shareClients(migration, fleet, evidence.epochs, { clocks, operations, isNewStore })
  const shared = shareComparisons(migration, fleet, clocks, config['records.memory'])
  const own = migration.report
  /** Reads after every replica has handed over what it knew, and falls back to what this one knows. */
  const settled = async <T>(read: () => Promise<T>, alone: () => T): Promise<FleetAnswer<T>> => {
    const { view } = await evidence.snapshot(() => [])
    try {
      return { answer: await read(), problems: view.problems }
    } catch (error) {
      const problems = view.problems.length > 0 ? view.problems : [(error as Error).message]
      return { answer: alone(), problems: [...problems, ALONE] }
    }
  }
  return {
    clients: () => settled(async () => (await readClients()).clients, own.clients),
    comparisons(query) {
      const known = () => [...own.comparisons(query), ...shared.others(query)].sort(byTime).slice(0, query.limit)
      return settled(async () => {
        await shared.read()
        return known()
      }, known)
    },
    async counted() {
      const known = await evidence.report.evidence()
      const clients = await readClients().catch(() => ({ clients: own.clients(), uncounted: 0 }))
      await shared.read().catch(() => {})
      return fleetCounted(known, clients, fleet, leader.id())
    },
    onComparison: shared.onRead,
  }
}

const ALONE = 'This is what this replica knows.'

/** The newest first. */
function byTime(a: Comparison, b: Comparison): number {
  return Date.parse(b.at) - Date.parse(a.at)
}
