import type { ClientRow } from './replayed.ts'
import { byRequests, type RequestGroup } from './request-group.ts'

/** The sums of one client. */
export interface ClientSum {
  requests: number
  served: number
  v1Only: number
  unknown: number
  unclear: number
  v2Calls: number
  /** What it uses and only v1 answers. */
  readonly blockers: Set<string>
}

/** Adds up the requests of each client. */
export interface ClientSums {
  /** Counts the requests; undefined when they name no client, or one beyond those that are kept apart. */
  add(group: RequestGroup): ClientSum | undefined
  rows(): readonly ClientRow[]
  /** Requests of clients beyond those that are kept apart. */
  uncounted(): number
}

export function createClientSums(most: number): ClientSums {
  const clients = new Map<string, ClientSum>()
  let uncounted = 0
  return {
    add({ client, times }) {
      if (client === undefined) return undefined
      const known = clients.get(client) ?? (clients.size < most ? newClient() : undefined)
      if (!known) {
        uncounted += times
        return undefined
      }
      clients.set(client, known)
      known.requests += times
      return known
    },
    rows: () => [...clients].map(rowOf).sort(byRequests),
    uncounted: () => uncounted,
  }
}

function newClient(): ClientSum {
  return { requests: 0, served: 0, v1Only: 0, unknown: 0, unclear: 0, v2Calls: 0, blockers: new Set() }
}

function rowOf([client, { blockers, v2Calls, ...counts }]: readonly [string, ClientSum]): ClientRow {
  return { client, ...counts, v2Calls: Math.round(v2Calls), blockers: [...blockers].sort() }
}
