import { createUnknownUses } from '../../migrate/clients.ts'
import { count, many } from '../../migrate/evidence/evidence.ts'
import type { Operation, OperationKind } from '../../tables/operation.ts'
import type { DroppedMember } from '../explain.ts'
import type { Cost } from './replay.ts'
import type { Format } from './traffic.ts'

/** One or several requests that are alike. */
export interface RequestGroup {
  readonly times: number
  readonly client?: string | undefined
  /** Milliseconds since 1970. A sum over a period has none. */
  readonly at?: number | undefined
}

/** Requests of an operation; the cost is that of one request, and may be a mean. */
export interface OperationRequests extends RequestGroup {
  readonly operation: Operation
  readonly cost: Cost
  readonly droppedParameters?: readonly string[]
  readonly droppedMembers?: readonly DroppedMember[]
}

/** Most requests first. */
export function byRequests(a: { readonly requests: number }, b: { readonly requests: number }): number {
  return b.requests - a.requests
}

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

/** Adds up the requests of each operation. */
export interface OperationSums {
  /** `calls` is the number of v2 calls of all these requests. */
  add(group: OperationRequests, calls: number): void
  rows(): readonly ReplayedOperation[]
}

interface Sum {
  readonly operation: Operation
  requests: number
  v2Calls: number
  refused: number
  readonly parameters: Map<string, number>
  readonly members: Map<string, number>
}

export function createOperationSums(differencesOf: (operation: string) => readonly string[]): OperationSums {
  const sums = new Map<string, Sum>()
  return {
    add(group, calls) {
      const { operation } = group
      const sum = sums.get(operation.id) ?? newSum(operation)
      sums.set(operation.id, sum)
      addTo(sum, group, calls)
    },
    rows: () => [...sums.values()].map((sum) => operationRowOf(sum, differencesOf(sum.operation.id))).sort(byRequests),
  }
}

function newSum(operation: Operation): Sum {
  return { operation, requests: 0, v2Calls: 0, refused: 0, parameters: new Map(), members: new Map() }
}

function addTo(sum: Sum, { times, cost, droppedParameters = [], droppedMembers = [] }: OperationRequests, calls: number): void {
  sum.requests += times
  sum.v2Calls += calls
  if (cost.refused) sum.refused += times
  for (const name of new Set(droppedParameters)) sum.parameters.set(name, (sum.parameters.get(name) ?? 0) + times)
  for (const { member, because } of droppedMembers) {
    const name = `${member.replace(/\[\d+\]/g, '[]')} (${because})`
    sum.members.set(name, (sum.members.get(name) ?? 0) + times)
  }
}

function operationRowOf(
  { operation, requests, v2Calls, refused, parameters, members }: Sum,
  differences: readonly string[],
): ReplayedOperation {
  const { id, kind, because } = operation
  return {
    operation: id,
    kind,
    requests,
    v2Calls: Math.round(v2Calls),
    refused,
    droppedParameters: Object.fromEntries(parameters),
    droppedMembers: Object.fromEntries(members),
    differences,
    ...(because !== undefined && { because }),
  }
}

/** Requests of operations that may show each difference; `seenOf` tells what a client sees of it. */
export function differenceRows(operations: readonly ReplayedOperation[], seenOf: (code: string) => string): readonly DifferenceRow[] {
  const codes = new Map<string, number>()
  for (const { differences, requests } of operations) {
    for (const code of differences) codes.set(code, (codes.get(code) ?? 0) + requests)
  }
  return [...codes].map(([code, requests]) => ({ code, requests, seen: seenOf(code) })).sort(byRequests)
}

/** What recorded traffic would meet. Requests are counted; times are milliseconds since 1970. */
export interface Replayed {
  readonly format: Format
  readonly requests: number
  /** Lines or entries that could not be read. */
  readonly unreadable: number
  /** The numbers of the first such lines, from 1. */
  readonly unreadableLines: readonly number[]
  readonly span?: { readonly from: number; readonly to: number }
  readonly coverage: Coverage
  readonly assumptions: readonly string[]
  readonly v2: V2Cost
  readonly operations: readonly ReplayedOperation[]
  readonly differences: readonly DifferenceRow[]
  readonly unknown: readonly UnknownRow[]
  readonly clients: readonly ClientRow[]
  /** Requests of clients beyond those that are told apart. */
  readonly uncounted: number
}

export interface Coverage {
  /** Requests that v2 answers. */
  readonly served: number
  /** Requests that need a v1 service. */
  readonly v1Only: number
  /** Requests whose operation v1 does not have either. */
  readonly unknown: number
  /** Requests outside v1, which go to v2 unchanged. */
  readonly native: number
}

export interface V2Cost {
  readonly calls: number
  /** The calls that are saved while an answer is kept. */
  readonly kept: number
  /** The minute with the most calls; absent if the traffic has no times. */
  readonly peak?: { readonly at: number; readonly requests: number; readonly calls: number }
}

export interface ReplayedOperation {
  readonly operation: string
  readonly kind: OperationKind
  readonly requests: number
  readonly v2Calls: number
  /** Requests that are refused before v2 is asked, because the query or the body is wrong. */
  readonly refused: number
  /** Query parameters that v1 ignored too, by name. */
  readonly droppedParameters: Readonly<Record<string, number>>
  /** Members of bodies that are not sent to v2, with the reason. */
  readonly droppedMembers: Readonly<Record<string, number>>
  readonly differences: readonly string[]
  readonly because?: string
}

export interface DifferenceRow {
  readonly code: string
  /** Requests of operations that may show it. */
  readonly requests: number
  readonly seen: string
}

export interface UnknownRow {
  readonly method: string
  readonly path: string
  readonly why: string
  readonly requests: number
}

export interface ClientRow {
  readonly client: string
  readonly requests: number
  readonly served: number
  readonly v1Only: number
  /** Requests that no table has. */
  readonly unknown: number
  /** Unknown requests that v1 did not answer with success, as far as it is recorded. */
  readonly unclear: number
  readonly v2Calls: number
  /** What it uses and only v1 answers: v1-only operations, and unknown requests that v1 answered with success. */
  readonly blockers: readonly string[]
}

/** Writes what recorded traffic would meet as lines for a terminal, with at most `top` rows of each list. */
export function replayLines(replayed: Replayed, top: number): readonly string[] {
  const { operations, differences, unknown, clients, uncounted, assumptions } = replayed
  return [
    ...head(replayed),
    ...section('operations', first(top, table(operations.map(operationCells)))),
    ...section('dropped by v1 and v2 alike', first(top, operations.flatMap(droppedLines))),
    ...section(
      'differences to expect',
      differences.map(({ code, requests, seen }) => `${code}  ${many(requests, 'request')}  ${seen}`),
    ),
    ...section(
      'unknown to v1',
      first(
        top,
        unknown.map(({ method, path, why, requests }) => `${`${method} ${path}`.trim()}  ${many(requests, 'request')}  ${why}`),
      ),
    ),
    ...section('clients', [
      ...first(top, table(clients.map(clientCells))),
      ...(uncounted > 0 ? [`${many(uncounted, 'request')} of further clients`] : []),
    ]),
    ...section('assumed', assumptions),
  ]
}

function head({ requests, unreadable, unreadableLines, span, coverage, v2 }: Replayed): readonly string[] {
  const { served, v1Only, unknown, native } = coverage
  const when = span ? `, ${time(span.from)} to ${time(span.to)}` : ''
  const lost = unreadable > 0 ? `, ${many(unreadable, 'line')} not readable${numbers(unreadable, unreadableLines)}` : ''
  const kept = v2.kept > 0 ? `, ${count(v2.kept)} of them spared while an answer is kept` : ''
  const peak = v2.peak
    ? [`peak      ${many(v2.peak.calls, 'v2 call')} for ${many(v2.peak.requests, 'request')} in the minute of ${time(v2.peak.at)}`]
    : []
  return [
    `${many(requests, 'request')}${when}${lost}`,
    `coverage  ${count(served)} served from v2 (${share(served, requests)}), ${count(v1Only)} v1-only, ${count(unknown)} unknown, ${count(native)} not v1`,
    `cost      ${many(v2.calls, 'v2 call')}${kept}`,
    ...peak,
  ]
}

/** Names the lines, or the first of them. */
function numbers(all: number, lines: readonly number[]): string {
  if (lines.length === 0) return ''
  return ` (line ${lines.join(', ')}${all > lines.length ? ', …' : ''})`
}

/** Says how many rows are left out. */
function first(top: number, rows: readonly string[]): readonly string[] {
  return rows.length <= top ? rows : [...rows.slice(0, top), `and ${count(rows.length - top)} more`]
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
}

function operationCells({ operation, kind, requests, v2Calls, refused, because }: ReplayedOperation): readonly string[] {
  const cost = kind === 'v1-only' ? `needs v1: ${because ?? ''}` : `${many(v2Calls, 'v2 call')} (${each(v2Calls, requests)} each)`
  return [operation, kind, many(requests, 'request'), refused > 0 ? `${cost}, ${count(refused)} refused` : cost]
}

function droppedLines({ operation, droppedParameters, droppedMembers }: ReplayedOperation): readonly string[] {
  const lines = (of: Readonly<Record<string, number>>, what: string) =>
    Object.entries(of).map(([name, requests]) => `${operation}  ${what} ${name}  ${many(requests, 'request')}`)
  return [...lines(droppedParameters, 'parameter'), ...lines(droppedMembers, 'member')]
}

function clientCells({ client, requests, served, v1Only, unknown, unclear, v2Calls, blockers }: ClientRow): readonly string[] {
  const needs = blockers.length > 0 ? [`needs v1 for ${blockers.join(', ')}`] : []
  const unsure = unclear > 0 ? ['look at its unknown paths first'] : []
  const move = [...needs, ...unsure].join('; ') || 'could move to v2'
  const counts = [`${count(served)} served, ${count(v1Only)} v1-only`, ...(unknown > 0 ? [`${count(unknown)} unknown`] : [])].join(', ')
  return [client, many(requests, 'request'), counts, many(v2Calls, 'v2 call'), move]
}

/** Aligns columns. The last one is not padded. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows.map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  '))
}

function each(calls: number, requests: number): number {
  return Math.round((10 * calls) / requests) / 10
}

function share(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.round((1000 * part) / whole) / 10} %`
}

/** RFC 3339 without the fraction. */
function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`
}

/** The span of the traffic and its busiest minute. */
export interface TimeSums {
  /** Extends the span of the traffic. */
  seenAt(at: number | undefined): void
  /** Counts requests and their v2 calls in their minute, where they have one. */
  add(group: RequestGroup, calls: number): void
  span(): Replayed['span']
  /** The minute with the most calls; undefined when nothing has a time. */
  peak(): V2Cost['peak']
}

const MINUTE = 60_000

export function createTimeSums(): TimeSums {
  const minutes = new Map<number, { requests: number; calls: number }>()
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return {
    seenAt(at) {
      if (at === undefined) return
      from = Math.min(from, at)
      to = Math.max(to, at)
    },
    add({ at, times }, calls) {
      if (at === undefined) return
      const minute = Math.floor(at / MINUTE) * MINUTE
      const known = minutes.get(minute) ?? { requests: 0, calls: 0 }
      minutes.set(minute, { requests: known.requests + times, calls: known.calls + calls })
    },
    span: () => (from <= to ? { from, to } : undefined),
    peak() {
      const [busiest] = [...minutes].sort(([, a], [, b]) => b.calls - a.calls)
      return busiest && { at: busiest[0], requests: busiest[1].requests, calls: Math.round(busiest[1].calls) }
    },
  }
}

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
