import { createUnknownUses } from '../../migrate/clients.ts'
import { createClientSums } from './client-sums.ts'
import { createOperationSums, differenceRows } from './operation-sums.ts'
import type { Coverage, Replayed, UnknownRow } from './replayed.ts'
import { byRequests, type OperationRequests, type RequestGroup } from './request-group.ts'
import { createTimeSums } from './time-sums.ts'

/** Adds up the results of replaying. */
export interface Summary {
  operation(group: OperationRequests): void
  unknown(group: RequestGroup, request: UnknownRequest): void
  native(group: RequestGroup): void
  /** Extends the span of the traffic. */
  seenAt(at: number | undefined): void
  result(): Sums
}

/** A request that no table has; its path holds no id. */
export interface UnknownRequest extends Omit<UnknownRow, 'requests'> {
  /** v1 answered it with success, so its client misses it without v1. */
  readonly answered: boolean
}

type Sums = Pick<Replayed, 'requests' | 'span' | 'coverage' | 'v2' | 'operations' | 'differences' | 'unknown' | 'clients' | 'uncounted'>

export interface SummarySettings {
  readonly differencesOf: (operation: string) => readonly string[]
  /** Returns what a client sees of a difference. */
  readonly seenOf: (code: string) => string
}

/** Maximum clients, and unknown paths, that are told apart. */
const MOST = 10_000

export function createSummary({ differencesOf, seenOf }: SummarySettings): Summary {
  const sums = createOperationSums(differencesOf)
  const clients = createClientSums(MOST)
  const times = createTimeSums()
  const unknown = new Map<string, { -readonly [Key in keyof UnknownRow]: UnknownRow[Key] }>()
  const coverage: { -readonly [Key in keyof Coverage]: number } = { served: 0, v1Only: 0, unknown: 0, native: 0 }
  const total = { calls: 0, kept: 0 }
  const unknownUse = createUnknownUses()
  return {
    seenAt: times.seenAt,
    operation(group) {
      const { operation, cost, at } = group
      const calls = group.times * cost.calls
      sums.add(group, calls)
      total.calls += calls
      total.kept += group.times * cost.kept
      const isV1Only = operation.kind === 'v1-only'
      coverage[isV1Only ? 'v1Only' : 'served'] += group.times
      const client = clients.add(group)
      if (client) {
        client[isV1Only ? 'v1Only' : 'served'] += group.times
        client.v2Calls += calls
        if (isV1Only) client.blockers.add(operation.id)
      }
      times.add(group, calls)
      times.seenAt(at)
    },
    unknown(group, { answered, ...request }) {
      const { method, path } = request
      coverage.unknown += group.times
      const client = clients.add(group)
      if (client) client.unknown += group.times
      if (client && answered) client.blockers.add(unknownUse(method, path))
      else if (client) client.unclear += group.times
      times.add(group, 0)
      times.seenAt(group.at)
      const key = `${method} ${path}`
      const row = unknown.get(key) ?? { ...request, requests: 0 }
      if (unknown.size < MOST || unknown.has(key)) unknown.set(key, row)
      row.requests += group.times
    },
    native(group) {
      coverage.native += group.times
      clients.add(group)
      times.seenAt(group.at)
    },
    result() {
      const operations = sums.rows()
      const [span, peak] = [times.span(), times.peak()]
      return {
        requests: coverage.served + coverage.v1Only + coverage.unknown + coverage.native,
        ...(span && { span }),
        coverage,
        v2: { calls: Math.round(total.calls), kept: Math.round(total.kept), ...(peak && { peak }) },
        operations,
        differences: differenceRows(operations, seenOf),
        unknown: [...unknown.values()].sort(byRequests),
        clients: clients.rows(),
        uncounted: clients.uncounted(),
      }
    },
  }
}
