import { createHash } from 'node:crypto'
import type { BeatText, FleetReplica } from './heartbeat.ts'

/** The services whose answers are compared. */
const SERVICES = ['v2', 'v1'] as const

export type ComparedService = (typeof SERVICES)[number]

/** Hashes of the addresses of both services, as a heartbeat tells them. */
export type Upstreams = Pick<BeatText, ComparedService>

/** Nobody needs to read an address in the store: what matters is whether all have the same. An address without a service is ''. */
export function upstreamsOf(addresses: Readonly<Record<ComparedService, string | undefined>>): Upstreams {
  const hash = (address: string | undefined) =>
    address === undefined ? '' : createHash('sha256').update(address).digest('hex').slice(0, 12)
  return { v2: hash(addresses.v2), v1: hash(addresses.v1) }
}

/** Returns the services that a live replica reaches at another address than this one does. An older version does not tell. */
export function otherServices(one: FleetReplica, replicas: readonly FleetReplica[]): readonly ComparedService[] {
  const self = replicas.find(({ isSelf }) => isSelf)
  if (!self || !one.isLive) return []
  return SERVICES.filter((service) => self[service] !== undefined && one[service] !== undefined && one[service] !== self[service])
}

/** Says in sentences which live replicas have other services than this one. Empty if all have the same. */
export function upstreamProblems(replicas: readonly FleetReplica[]): readonly string[] {
  return replicas.flatMap((one) => {
    const others = otherServices(one, replicas).map((service) => `upstream.${service}`)
    if (others.length === 0) return []
    const name = others.join(' and ')
    return [
      `Replica ${one.id} has another ${name} than this one, but adds to the same evidence; give both the same, or each its own store.name, and begin a new epoch.`,
    ]
  })
}
