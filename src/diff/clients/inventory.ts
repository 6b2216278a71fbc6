import type { Operation } from '../../tables/operations/operation.ts'
import type { Caller } from '../records/record.ts'
import { type Client, clientOf, type KnownClient, type Tally } from './client.ts'
import { createUseOf } from './uses.ts'

/** One or several uses of one operation. */
export interface CountedUse {
  readonly operation: string
  readonly mode: string
  /** Default: 1. */
  readonly calls?: number
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface Inventory {
  use(client: Caller, use: CountedUse): void
  /** Counts a request whose credential no service has accepted. Such a stranger is no client, and its request is no traffic. */
  stranger(operation: string): void
  /** Counts a recorded mismatch, transient or not, against the client that received it. Records may name it before the calls. */
  mismatch(caller: string, operation: string): void
  /** Sorted by calls, most first. */
  clients(): readonly Client[]
  /** v1 requests of all clients by operation id. */
  traffic(): ReadonlyMap<string, number>
  /** Requests of strangers by operation id. */
  strangers(): ReadonlyMap<string, number>
  /** Calls of clients beyond the first `limit`. `traffic` includes them. */
  uncounted(): number
}

/** Maximum clients that are told apart. */
const CLIENTS = 10_000

export function createInventory(operations: readonly Operation[], limit: number = CLIENTS): Inventory {
  const useOf = createUseOf(operations)
  const clients = new Map<string, KnownClient>()
  const traffic = new Map<string, number>()
  const strangers = new Map<string, number>()
  let uncounted = 0
  const tallyOf = (caller: string, operation: string, subject?: string) => {
    const client = clients.get(caller) ?? (clients.size < limit ? newClient(clients, caller) : undefined)
    if (client && subject !== undefined) client.subject = subject
    return client && (client.operations.get(operation) ?? newTally(client, operation))
  }
  return {
    use({ caller, subject }, { operation, mode, calls = 1, at }) {
      traffic.set(operation, (traffic.get(operation) ?? 0) + calls)
      const tally = tallyOf(caller, operation, subject)
      if (!tally) {
        uncounted += calls
        return
      }
      tally.calls += calls
      tally.lastSeen = Math.max(tally.lastSeen, at)
      tally.modes.add(mode)
    },
    stranger: (operation) => void strangers.set(operation, (strangers.get(operation) ?? 0) + 1),
    mismatch(caller, operation) {
      const tally = tallyOf(caller, operation)
      if (tally) tally.mismatches += 1
    },
    clients: () => [...clients].flatMap(([caller, known]) => clientOf(caller, known, useOf) ?? []).sort((a, b) => b.calls - a.calls),
    traffic: () => traffic,
    strangers: () => strangers,
    uncounted: () => uncounted,
  }
}

function newClient(clients: Map<string, KnownClient>, caller: string): KnownClient {
  const client: KnownClient = { subject: undefined, operations: new Map() }
  clients.set(caller, client)
  return client
}

function newTally({ operations }: KnownClient, operation: string): Tally {
  const tally: Tally = { calls: 0, lastSeen: 0, mismatches: 0, modes: new Set() }
  operations.set(operation, tally)
  return tally
}
