import type { Operation } from '../../tables/operation.ts'
import { isDifference } from '../evidence/observation.ts'
import type { Caller, Comparison } from '../records/record.ts'
import { type Client, clientOf, type KnownClient, REST, type Tally } from './client.ts'
import { createKeptUses, emptyUse } from './kept-uses.ts'
import type { RequestKind } from './request-kind.ts'
import { createUseOf } from './uses.ts'

/** One or several uses of one operation. */
export interface CountedUse {
  readonly operation: string
  readonly mode: string
  /** `grpc`, `grpc-web` or `connect`; absent for REST. */
  readonly protocol?: string | undefined
  /** Calls that a record counts. Absent for a request that was just served. */
  readonly calls?: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** What the inventory needs of a comparison. */
export type ComparedUse = Pick<Comparison, 'caller' | 'operation' | 'outcome' | 'totals'>

export interface Inventory {
  /** Returns true for a served request whose parameters are worth a look: the first ones of a client at an operation, then a few. */
  use(client: Caller, use: CountedUse): boolean
  /** Keeps the kind of such a request. `samples` are requests that a record counts. */
  look(caller: string, operation: string, kind: RequestKind, samples?: number): void
  /** Counts a request whose credential no service has accepted. Such a stranger is no client, and its request is no traffic. */
  stranger(operation: string): void
  /** Counts a mismatch, transient or not, against its client, and keeps where answers differed. Records may come before the calls. */
  compared(comparison: ComparedUse): void
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

/** A look costs as much as a small part of a request. So the first requests are looked at, and then one in `EVERY`. */
const FIRST = 10
const EVERY = 100

export function createInventory(operations: readonly Operation[], limit: number = CLIENTS): Inventory {
  const useOf = createUseOf(operations)
  const keptUses = createKeptUses()
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
    use({ caller, subject }, { operation, mode, protocol = REST, calls, at }) {
      const times = calls ?? 1
      traffic.set(operation, (traffic.get(operation) ?? 0) + times)
      const tally = tallyOf(caller, operation, subject)
      if (!tally) {
        uncounted += times
        return false
      }
      tally.calls += times
      tally.firstSeen = Math.min(tally.firstSeen, at)
      tally.lastSeen = Math.max(tally.lastSeen, at)
      tally.modes.add(mode)
      tally.protocols.add(protocol)
      return calls === undefined && isSample(tally)
    },
    look(caller, operation, kind, samples) {
      const tally = tallyOf(caller, operation)
      if (samples !== undefined && tally) tally.samples += samples
      if (tally) keptUses.addKind(tally.kept, kind, samples ?? 1)
    },
    stranger: (operation) => void strangers.set(operation, (strangers.get(operation) ?? 0) + 1),
    compared(comparison) {
      const isMismatch = isDifference(comparison.outcome)
      if (!isMismatch && comparison.outcome !== 'expected') return
      const tally = tallyOf(comparison.caller, comparison.operation)
      if (isMismatch && tally) tally.mismatches += 1
      if (tally) keptUses.addDifferences(tally.kept, comparison)
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

function isSample(tally: Tally): boolean {
  if (tally.samples >= FIRST && tally.calls % EVERY !== 0) return false
  tally.samples += 1
  return true
}

function newTally({ operations }: KnownClient, operation: string): Tally {
  const tally: Tally = {
    calls: 0,
    firstSeen: Number.POSITIVE_INFINITY,
    lastSeen: 0,
    mismatches: 0,
    modes: new Set(),
    protocols: new Set(),
    samples: 0,
    kept: emptyUse(),
  }
  operations.set(operation, tally)
  return tally
}
