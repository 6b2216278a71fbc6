import type { FastifyInstance } from 'fastify'
import { type FleetReplica, newestOf, type UnreadReplica } from '../../../fleet/exchange.ts'
import { type Fleet, type Leader, otherServices } from '../../../fleet/fleet.ts'

export interface ReplicasSources {
  readonly fleet: Pick<Fleet, 'replicas' | 'readReplicas' | 'unread'>
  readonly leader: Pick<Leader, 'id'>
}

/** One process of the fleet as `GET /replicas` shows it. */
export interface ReplicaRow {
  readonly id: string
  /** The name of its machine or container. */
  readonly name: string
  /** `silent` after three seconds without a heartbeat. */
  readonly state: 'live' | 'silent'
  /** True of the replica that answers. */
  readonly self: boolean
  /** True of the replica that decides about rollouts, and that sends notifications. */
  readonly leads: boolean
  /** The version of the modes that it has in force, and how many it lacks. Version 0: it knows none. */
  readonly version: number
  readonly behind: number
  /** The version of newer modes in the store, which its version of Crosswalk cannot read. */
  readonly unread?: number
  /** The settings by which it reaches other services than the replica that answers; absent if there are none. */
  readonly differs?: readonly string[]
  /** Milliseconds since its last heartbeat. */
  readonly seenMs: number
  /** Observations that the store does not have yet; clean ones that had no room; bad ones that had none. */
  readonly waiting: number
  readonly dropped: number
  readonly lost: number
  /** When it started. */
  readonly since: string
}

/** A process of another version of Crosswalk: it is there, and nobody knows more. */
export interface UnreadRow extends Pick<ReplicaRow, 'id' | 'state' | 'self' | 'leads' | 'seenMs'> {
  readonly problem: string
}

const UNREAD =
  'It speaks a newer version of Crosswalk: its heartbeat cannot be read here, so nobody knows its modes, or what it has not handed over.'

/** Adds `GET /replicas`: who shares the store, as the last heartbeats tell. */
export function addReplicas(app: FastifyInstance, { fleet, leader }: ReplicasSources): void {
  app.get('/replicas', async () => {
    const rows = rowsOf(await fleet.readReplicas().catch(fleet.replicas), leader.id())
    return [...rows, ...fleet.unread().map((one) => unreadRowOf(one, leader.id()))]
  })
}

function unreadRowOf({ id, isLive, seenMs }: UnreadReplica, leader: string | undefined): UnreadRow {
  return { id, state: stateOf(isLive), self: false, leads: id === leader, seenMs: Math.round(seenMs), problem: UNREAD }
}

function stateOf(isLive: boolean): ReplicaRow['state'] {
  return isLive ? 'live' : 'silent'
}

function rowsOf(replicas: readonly FleetReplica[], leader: string | undefined): readonly ReplicaRow[] {
  const newest = newestOf(replicas)
  return replicas.map(({ id, name, isLive, isSelf, version, unread, seenMs, waiting, dropped, lost, since }) => ({
    ...{ id, name, state: stateOf(isLive), self: isSelf, leads: id === leader, version, behind: newest - version },
    ...(unread !== undefined && { unread }),
    ...differsIn(id, replicas),
    ...{ seenMs: Math.round(seenMs), waiting, dropped, lost, since: new Date(since).toISOString() },
  }))
}

function differsIn(id: string, replicas: readonly FleetReplica[]): Pick<ReplicaRow, 'differs'> {
  const differs = replicas.flatMap((one) => (one.id === id ? otherServices(one, replicas).map((service) => `upstream.${service}`) : []))
  return differs.length > 0 ? { differs } : {}
}
