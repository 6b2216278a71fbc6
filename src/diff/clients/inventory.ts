import type { Operation, OperationKind } from '../../tables/operations/operation.ts'
import { many } from '../many.ts'
import type { Caller } from '../records/record.ts'
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

export interface OperationUse {
  readonly operation: string
  readonly calls: number
  readonly lastSeen: number
  /** Every mode in which it was served. */
  readonly modes: readonly string[]
  readonly mismatches: number
}

/** A client, and what keeps it from moving to v2. */
export interface Client extends Caller {
  readonly calls: number
  readonly lastSeen: number
  readonly mismatches: number
  readonly operations: readonly OperationUse[]
  /** True if `blockers` is empty: the client could call v2 itself today. */
  readonly couldMove: boolean
  /** Uses for which v2 has no endpoint, with the reason. */
  readonly blockers: readonly string[]
  /** What the client would have to do itself, or should check first. */
  readonly cautions: readonly string[]
}

export interface Inventory {
  use(client: Caller, use: CountedUse): void
  /** Counts a request whose credential no service has accepted. Such a stranger is no client, and its request is no traffic. */
  stranger(operation: string): void
  /** Counts a recorded mismatch, transient or not, against the client that received it. */
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

interface Tally {
  calls: number
  lastSeen: number
  mismatches: number
  readonly modes: Set<string>
}

interface Known {
  subject: string | undefined
  readonly operations: Map<string, Tally>
}

/** Maximum clients that are told apart. */
const CLIENTS = 10_000

export function createInventory(operations: readonly Operation[], limit: number = CLIENTS): Inventory {
  const useOf = createUseOf(operations)
  const clients = new Map<string, Known>()
  const traffic = new Map<string, number>()
  const strangers = new Map<string, number>()
  let uncounted = 0
  return {
    use({ caller, subject }, { operation, mode, calls = 1, at }) {
      traffic.set(operation, (traffic.get(operation) ?? 0) + calls)
      const client = clients.get(caller) ?? (clients.size < limit ? newClient(clients, caller) : undefined)
      if (!client) {
        uncounted += calls
        return
      }
      client.subject = subject ?? client.subject
      const tally = client.operations.get(operation) ?? newTally(client, operation)
      tally.calls += calls
      tally.lastSeen = Math.max(tally.lastSeen, at)
      tally.modes.add(mode)
    },
    stranger: (operation) => void strangers.set(operation, (strangers.get(operation) ?? 0) + 1),
    mismatch(caller, operation) {
      const tally = clients.get(caller)?.operations.get(operation)
      if (tally) tally.mismatches += 1
    },
    clients: () => [...clients].map(([caller, known]) => clientOf(caller, known, useOf)).sort((a, b) => b.calls - a.calls),
    traffic: () => traffic,
    strangers: () => strangers,
    uncounted: () => uncounted,
  }
}

function newClient(clients: Map<string, Known>, caller: string): Known {
  const client: Known = { subject: undefined, operations: new Map() }
  clients.set(caller, client)
  return client
}

function newTally({ operations }: Known, operation: string): Tally {
  const tally: Tally = { calls: 0, lastSeen: 0, mismatches: 0, modes: new Set() }
  operations.set(operation, tally)
  return tally
}

type UseOf = ReturnType<typeof createUseOf>

/** How the kind of an operation affects a client that wants to call v2 itself. */
const OBSTACLES: Readonly<Record<OperationKind, 'blocker' | 'caution' | undefined>> = {
  direct: undefined,
  composed: undefined,
  emulated: 'caution',
  'v1-only': 'blocker',
}

function clientOf(caller: string, { subject, operations }: Known, useOf: UseOf): Client {
  const uses = [...operations].map(([operation, { modes, ...tally }]): OperationUse => ({ operation, ...tally, modes: [...modes].sort() }))
  const because = (what: 'blocker' | 'caution') =>
    uses.flatMap(({ operation }) => {
      const row = useOf(operation)
      return row && OBSTACLES[row.kind] === what ? [`${operation}: ${row.because}`] : []
    })
  const blockers = because('blocker')
  const differing = uses
    .filter(({ mismatches }) => mismatches > 0)
    .map(({ operation, mismatches }) => `${operation}: ${many(mismatches, 'mismatch', 'mismatches')}`)
  return {
    caller,
    ...(subject !== undefined && { subject }),
    calls: uses.reduce((sum, { calls }) => sum + calls, 0),
    lastSeen: Math.max(...uses.map(({ lastSeen }) => lastSeen)),
    mismatches: uses.reduce((sum, { mismatches }) => sum + mismatches, 0),
    operations: uses.sort((a, b) => b.calls - a.calls),
    couldMove: blockers.length === 0,
    blockers,
    cautions: [...because('caution'), ...differing],
  }
}
