import type { OperationKind } from '../../tables/operation.ts'
import { many } from '../many.ts'
import type { Caller } from '../records/record.ts'
import type { KeptUse, SeenDifference } from './kept-uses.ts'
import type { SampledKind } from './request-kind.ts'
import type { createUseOf } from './uses.ts'

export interface OperationUse {
  readonly operation: string
  readonly calls: number
  /** Milliseconds since 1970, like `lastSeen`. */
  readonly firstSeen: number
  readonly lastSeen: number
  /** Every mode in which it was served. */
  readonly modes: readonly string[]
  /** Every protocol in which it was called: `grpc`, `grpc-web`, `connect`, `rest`. Absent for REST alone. */
  readonly protocols?: readonly string[]
  readonly mismatches: number
  /** The kinds of requests among those that were looked at, the most frequent first. Absent if none was. */
  readonly requests?: readonly SampledKind[]
  /** Requests of further kinds, among those that were looked at. */
  readonly otherRequests?: number
  /** Where answers of v1 and v2 differed, the most frequent place first. Absent if they did not. */
  readonly differences?: readonly SeenDifference[]
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

/** Returns the client without the parameters of its requests, which only its guide needs. */
export function withoutRequests(client: Client): Client {
  return { ...client, operations: client.operations.map(({ requests, otherRequests, ...use }) => use) }
}

/** What one client did at one operation. */
export interface Tally {
  calls: number
  firstSeen: number
  lastSeen: number
  mismatches: number
  readonly modes: Set<string>
  readonly protocols: Set<string>
  /** Requests that were to be looked at. */
  samples: number
  readonly kept: KeptUse
}

/** A client while it is counted. */
export interface KnownClient {
  subject: string | undefined
  readonly operations: Map<string, Tally>
}

/** The protocol of a use that names none. */
export const REST = 'rest'

type UseOf = ReturnType<typeof createUseOf>

/** How the kind of an operation affects a client that wants to call v2 itself. */
const OBSTACLES: Readonly<Record<OperationKind, 'blocker' | 'caution' | undefined>> = {
  direct: undefined,
  composed: undefined,
  emulated: 'caution',
  'v1-only': 'blocker',
}

/** Says what keeps a client from moving. Undefined for one without a call. */
export function clientOf(caller: string, { subject, operations }: KnownClient, useOf: UseOf): Client | undefined {
  const called = [...operations].filter(([, { calls }]) => calls > 0)
  if (called.length === 0) return undefined
  const uses = called.map(([operation, tally]) => useIn(operation, tally))
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

function useIn(operation: string, { calls, firstSeen, lastSeen, mismatches, modes, protocols, kept }: Tally): OperationUse {
  const requests = kept.kinds.toSorted((a, b) => b.samples - a.samples)
  const differences = kept.places.toSorted((a, b) => b.count - a.count)
  return {
    operation,
    calls,
    firstSeen,
    lastSeen,
    modes: [...modes].sort(),
    ...([...protocols].some((protocol) => protocol !== REST) && { protocols: [...protocols].sort() }),
    mismatches,
    ...(requests.length > 0 && { requests }),
    ...(kept.otherSamples > 0 && { otherRequests: kept.otherSamples }),
    ...(differences.length > 0 && { differences }),
  }
}
