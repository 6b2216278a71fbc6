import type { FleetCounted, ReportReplica } from '../../admin/report/report.ts'
import type { FleetClients } from '../../fleet/clients.ts'
import { type FleetReplica, newestOf, type UnreadReplica } from '../../fleet/exchange.ts'
import { type ComparedService, type Fleet, otherServices } from '../../fleet/fleet.ts'
import type { EvidenceReport, OperationProgress } from '../../migrate/migration.ts'

/** Returns what a report is made of, from what the store holds of all replicas. `leader` is the id of the replica that decides. */
export function fleetCounted(
  { operations, traffic, uncounted, declarations, fleet }: EvidenceReport,
  { clients, uncounted: beyond }: FleetClients,
  shared: Pick<Fleet, 'replicas' | 'unread'>,
  leader: string | undefined,
): FleetCounted {
  const { problems = [], epoch = { nth: 0, tables: '' } } = fleet ?? {}
  const replicas = shared.replicas()
  const newest = newestOf(replicas)
  const rows = replicas.map((one) => replicaOf(one, newest, leader, otherServices(one, replicas)))
  return {
    evidence: operations.map(evidenceIn),
    traffic: new Map(Object.entries(traffic)),
    ...{ clients, declarations, uncounted: uncounted + beyond },
    fleet: {
      ...{ problems, epoch },
      replicas: rows.sort((a, b) => Number(b.isSelf) - Number(a.isSelf) || (a.id < b.id ? -1 : 1)),
      unread: shared.unread().map((one) => ({ id: one.id, ...silenceOf(one) })),
    },
  }
}

function evidenceIn({ needed: _, days: __, hints: ___, circuit: ____, ...evidence }: OperationProgress): FleetCounted['evidence'][number] {
  return evidence
}

/** Leaves out how long ago a replica was heard of, if it lives: otherwise each answer would be another. */
function silenceOf({ isLive, seenMs }: UnreadReplica): Pick<ReportReplica, 'silentSeconds'> {
  return isLive ? {} : { silentSeconds: Math.round(seenMs / 1000) }
}

function replicaOf(one: FleetReplica, newest: number, leader: string | undefined, others: readonly ComparedService[]): ReportReplica {
  const { id, isSelf, since, version, unread, waiting, dropped, lost } = one
  const modes = { version, behind: newest - version, ...(unread !== undefined && { unread }) }
  return {
    id,
    isSelf,
    isLeader: id === leader,
    since,
    ...modes,
    ...silenceOf(one),
    ...(others.length > 0 && { otherServices: others }),
    waiting,
    dropped,
    lost,
  }
}
