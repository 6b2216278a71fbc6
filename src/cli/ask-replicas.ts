import type { Client } from '../migrate/clients.ts'
import type { FleetView, RolloutOutlook } from '../migrate/evidence/cutover.ts'
import type { Replica } from '../migrate/evidence/replicas.ts'
import type { EvidenceReport } from '../migrate/migration.ts'
import { isObject } from '../tables/json.ts'
import { type AdminPort, adminPort } from './admin-port.ts'
import { type Flags, type Io, textsOf } from './command.ts'
import { withProgress } from './terminal/progress.ts'

/** An admin port that was asked: what its proxy knows, or one sentence that says why it is not known. */
export interface AskedReplica {
  readonly admin: string
  readonly replica?: Replica
  readonly problem?: string
  /** What its fleet says besides its counts, if it shares a store. */
  readonly fleet?: FleetView
}

/** Asks every admin port of `--admin`, or the own one. Rejects with a misuse if the settings are wrong. */
export async function askReplicas(flags: Flags, io: Io): Promise<readonly AskedReplica[]> {
  const port = adminPort(flags, io)
  const given = textsOf(flags, 'admin')
  const admins = [...new Set(given.length === 0 ? [port.own] : given)]
  return withProgress(io.screen, 'asking for evidence', () => Promise.all(admins.map((admin) => askOne(port, admin))))
}

/** Returns one of the ports of each fleet: all of them tell what all replicas have counted. */
export function onePerFleet(asked: readonly AskedReplica[]): readonly AskedReplica[] {
  return asked.filter(({ fleet }, at) => {
    const before = asked.slice(0, at)
    return !before.some((other) => fleet && other.fleet?.replicas.some(({ id }) => id === fleet.self))
  })
}

/** Returns what keeps the fleets that were asked from being judged, in sentences. */
export function missingIn(asked: readonly AskedReplica[]): readonly string[] {
  return [...new Set(asked.flatMap(({ fleet }) => fleet?.problems ?? []))]
}

async function askOne({ ask }: AdminPort, admin: string): Promise<AskedReplica> {
  const evidence = await ask<EvidenceReport>('/evidence', admin)
  const clients = 'problem' in evidence ? evidence : await ask<readonly Client[]>('/clients', admin)
  if ('problem' in evidence) return { admin, problem: evidence.problem }
  if ('problem' in clients) return { admin, problem: clients.problem }
  const rollouts = await ask<readonly RolloutOutlook[]>('/rollouts', admin)
  if ('problem' in rollouts) return { admin, problem: rollouts.problem }
  const { operations, traffic, strangers, uncounted, circuits, fleet } = evidence
  const isWhole =
    [operations, clients, rollouts].every(Array.isArray) &&
    rollouts.every(({ reach }) => Array.isArray(reach)) &&
    [traffic, strangers, circuits].every(isObject)
  if (!isWhole) return { admin, problem: `${admin} answers, but not as the admin port of this version of Crosswalk.` }
  const open = Object.entries(circuits).flatMap(([id, { state, reason }]) => (state === 'open' ? [[id, reason] as const] : []))
  return {
    admin,
    ...(fleet && { fleet }),
    replica: { evidence: operations, traffic, strangers, clients, uncounted, openCircuits: Object.fromEntries(open), rollouts },
  }
}
