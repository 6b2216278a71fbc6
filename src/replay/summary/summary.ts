import type { DroppedMember } from '../../explain/dropped.ts'
import type { Operation } from '../../tables/operations/operation.ts'
import type { Cost } from '../cost.ts'
import type { ClientRow, Coverage, DifferenceRow, OperationRow, Replayed, UnknownRow } from './replayed.ts'

/** One request, or several that are alike. */
export interface Use {
  readonly times: number
  readonly client?: string | undefined
  /** Milliseconds since 1970; a sum over some time has none. */
  readonly at?: number | undefined
}

/** A use of an operation; the cost is that of one request, and may be a mean. */
export interface OperationUse extends Use {
  readonly operation: Operation
  readonly cost: Cost
  readonly droppedParameters?: readonly string[]
  readonly droppedMembers?: readonly DroppedMember[]
}

/** Adds up what traffic meets. */
export interface Tally {
  operation(use: OperationUse): void
  unknown(use: Use, method: string, path: string, why: string): void
  native(use: Use): void
  /** Widens the span. */
  seenAt(at: number | undefined): void
  result(): TallyResult
}

export type TallyResult = Pick<
  Replayed,
  'requests' | 'span' | 'coverage' | 'v2' | 'operations' | 'differences' | 'unknown' | 'clients' | 'uncounted'
>

export interface TallySettings {
  readonly differencesOf: (operation: string) => readonly string[]
  /** What a client sees of a difference. */
  readonly seenOf: (code: string) => string
}

/** Clients and unknown paths that are kept apart. */
const MOST = 10_000

const MINUTE = 60_000

interface Row {
  readonly operation: Operation
  requests: number
  v2Calls: number
  refused: number
  readonly parameters: Map<string, number>
  readonly members: Map<string, number>
}

interface Client {
  requests: number
  served: number
  v1Only: number
  unknown: number
  v2Calls: number
  readonly blockers: Set<string>
}

export function createTally({ differencesOf, seenOf }: TallySettings): Tally {
  const rows = new Map<string, Row>()
  const clients = new Map<string, Client>()
  const unknown = new Map<string, { -readonly [Key in keyof UnknownRow]: UnknownRow[Key] }>()
  const minutes = new Map<number, { requests: number; calls: number }>()
  const coverage: { -readonly [Key in keyof Coverage]: number } = { served: 0, v1Only: 0, unknown: 0, native: 0 }
  const total = { calls: 0, kept: 0, uncounted: 0 }
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

  const clientOf = ({ client, times }: Use): Client | undefined => {
    if (client === undefined) return undefined
    const known = clients.get(client) ?? (clients.size < MOST ? newClient() : undefined)
    if (known) clients.set(client, known)
    else total.uncounted += times
    if (known) known.requests += times
    return known
  }
  const perMinute = ({ at, times }: Use, calls: number) => {
    if (at === undefined) return
    const minute = Math.floor(at / MINUTE) * MINUTE
    const known = minutes.get(minute) ?? { requests: 0, calls: 0 }
    minutes.set(minute, { requests: known.requests + times, calls: known.calls + calls })
  }
  const seenAt = (at: number | undefined) => {
    if (at === undefined) return
    from = Math.min(from, at)
    to = Math.max(to, at)
  }

  return {
    seenAt,
    operation(use) {
      const { operation, times, cost } = use
      const row = rows.get(operation.id) ?? newRow(operation)
      rows.set(operation.id, row)
      const calls = times * cost.calls
      addTo(row, use, calls)
      total.calls += calls
      total.kept += times * cost.kept
      const isV1Only = operation.kind === 'v1-only'
      coverage[isV1Only ? 'v1Only' : 'served'] += times
      const client = clientOf(use)
      if (client) {
        client[isV1Only ? 'v1Only' : 'served'] += times
        client.v2Calls += calls
        if (isV1Only) client.blockers.add(operation.id)
      }
      perMinute(use, calls)
      seenAt(use.at)
    },
    unknown(use, method, path, why) {
      coverage.unknown += use.times
      const client = clientOf(use)
      if (client) client.unknown += use.times
      perMinute(use, 0)
      seenAt(use.at)
      const key = `${method} ${path}`
      const row = unknown.get(key) ?? { method, path, why, requests: 0 }
      if (unknown.size < MOST || unknown.has(key)) unknown.set(key, row)
      row.requests += use.times
    },
    native(use) {
      coverage.native += use.times
      clientOf(use)
      seenAt(use.at)
    },
    result() {
      const operations = [...rows.values()].map((row) => operationRow(row, differencesOf)).sort(byRequests)
      const peak = [...minutes].sort(([, a], [, b]) => b.calls - a.calls)[0]
      return {
        requests: coverage.served + coverage.v1Only + coverage.unknown + coverage.native,
        ...(from <= to && { span: { from, to } }),
        coverage,
        v2: { calls: Math.round(total.calls), kept: Math.round(total.kept), ...(peak && { peak: { at: peak[0], ...rounded(peak[1]) } }) },
        operations,
        differences: differenceRows(operations, seenOf),
        unknown: [...unknown.values()].sort(byRequests),
        clients: [...clients].map(clientRow).sort(byRequests),
        uncounted: total.uncounted,
      }
    },
  }
}

function newRow(operation: Operation): Row {
  return { operation, requests: 0, v2Calls: 0, refused: 0, parameters: new Map(), members: new Map() }
}

function newClient(): Client {
  return { requests: 0, served: 0, v1Only: 0, unknown: 0, v2Calls: 0, blockers: new Set() }
}

function addTo(row: Row, { times, cost, droppedParameters = [], droppedMembers = [] }: OperationUse, calls: number): void {
  row.requests += times
  row.v2Calls += calls
  if (cost.refused) row.refused += times
  for (const name of new Set(droppedParameters)) row.parameters.set(name, (row.parameters.get(name) ?? 0) + times)
  for (const { member, because } of droppedMembers) {
    const name = `${member.replace(/\[\d+\]/g, '[]')} (${because})`
    row.members.set(name, (row.members.get(name) ?? 0) + times)
  }
}

function operationRow({ operation, requests, v2Calls, refused, parameters, members }: Row, differencesOf: TallySettings['differencesOf']) {
  const { id, kind, because } = operation
  const row: OperationRow = {
    operation: id,
    kind,
    requests,
    v2Calls: Math.round(v2Calls),
    refused,
    droppedParameters: Object.fromEntries(parameters),
    droppedMembers: Object.fromEntries(members),
    differences: differencesOf(id),
    ...(because !== undefined && { because }),
  }
  return row
}

function differenceRows(operations: readonly OperationRow[], seenOf: TallySettings['seenOf']): readonly DifferenceRow[] {
  const codes = new Map<string, number>()
  for (const { differences, requests } of operations) {
    for (const code of differences) codes.set(code, (codes.get(code) ?? 0) + requests)
  }
  return [...codes].map(([code, requests]) => ({ code, requests, seen: seenOf(code) })).sort(byRequests)
}

function clientRow([client, { blockers, v2Calls, ...counts }]: readonly [string, Client]): ClientRow {
  return { client, ...counts, v2Calls: Math.round(v2Calls), blockers: [...blockers].sort() }
}

function rounded({ requests, calls }: { readonly requests: number; readonly calls: number }) {
  return { requests, calls: Math.round(calls) }
}

function byRequests(a: { readonly requests: number }, b: { readonly requests: number }): number {
  return b.requests - a.requests
}
