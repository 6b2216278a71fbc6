import { createUnknownUses } from '../../migrate/clients.ts'
import { count, many } from '../../migrate/evidence/evidence.ts'
import type { Operation, OperationKind } from '../../tables/operation.ts'
import type { DroppedMember } from '../explain.ts'
import type { Cost } from './replay.ts'
import type { Format } from './traffic.ts'

/** One or several requests that are alike. */
interface RequestGroup {
  readonly times: number
  readonly client?: string | undefined
  /** Milliseconds since 1970. A sum over a period has none. */
  readonly at?: number | undefined
}

/** Requests of an operation; the cost is that of one request, and may be a mean. */
interface OperationRequests extends RequestGroup {
  readonly operation: Operation
  readonly cost: Cost
  readonly droppedParameters?: readonly string[]
  readonly droppedMembers?: readonly DroppedMember[]
}

/** Most requests first. */
function byRequests(a: { readonly requests: number }, b: { readonly requests: number }): number {
  return b.requests - a.requests
}

export function increase(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

type Counting<T> = { -readonly [Key in keyof T]: T[Key] }

/** The sums of one client. */
interface ClientSum extends Counting<Omit<ClientRow, 'client' | 'blockers'>> {
  readonly blockers: Set<string>
}

/** Adds up the requests of each client. */
class ClientSums {
  readonly #clients = new Map<string, ClientSum>()
  /** Requests of clients beyond those that are kept apart. */
  uncounted = 0

  /** Counts the requests; undefined when they name no client, or one beyond those that are kept apart. */
  add({ client, times }: RequestGroup): ClientSum | undefined {
    if (client === undefined) return undefined
    let known = this.#clients.get(client)
    if (!known && this.#clients.size >= MOST) {
      this.uncounted += times
      return undefined
    }
    known ??= { requests: 0, served: 0, v1Only: 0, unknown: 0, unclear: 0, v2Calls: 0, blockers: new Set() }
    this.#clients.set(client, known)
    known.requests += times
    return known
  }

  rows(): readonly ClientRow[] {
    const rows = [...this.#clients].map(([client, { blockers, v2Calls, ...counts }]) => {
      return { client, ...counts, v2Calls: Math.round(v2Calls), blockers: [...blockers].sort() }
    })
    return rows.sort(byRequests)
  }
}

/** The sums of one operation. */
interface OperationSum {
  readonly operation: Operation
  requests: number
  v2Calls: number
  refused: number
  readonly parameters: Map<string, number>
  readonly members: Map<string, number>
}

/** `calls` is the number of v2 calls of all these requests. */
function addTo(sum: OperationSum, { times, cost, droppedParameters = [], droppedMembers = [] }: OperationRequests, calls: number): void {
  sum.requests += times
  sum.v2Calls += calls
  if (cost.refused) sum.refused += times
  for (const name of new Set(droppedParameters)) increase(sum.parameters, name, times)
  for (const { member, because } of droppedMembers) increase(sum.members, `${member.replace(/\[\d+\]/g, '[]')} (${because})`, times)
}

function operationRowOf({ operation, requests, v2Calls, refused, parameters, members }: OperationSum, differences: readonly string[]) {
  const { id, kind, because } = operation
  return {
    ...{ operation: id, kind, requests, v2Calls: Math.round(v2Calls), refused },
    ...{ droppedParameters: Object.fromEntries(parameters), droppedMembers: Object.fromEntries(members), differences },
    ...(because !== undefined && { because }),
  }
}

/** Requests of operations that may show each difference; `seenOf` tells what a client sees of it. */
function differenceRows(operations: readonly ReplayedOperation[], seenOf: (code: string) => string): readonly DifferenceRow[] {
  const codes = new Map<string, number>()
  for (const { differences, requests } of operations) for (const code of differences) increase(codes, code, requests)
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
  /** Unknown requests to paths beyond those that are told apart. */
  readonly unlisted: number
  readonly clients: readonly ClientRow[]
  /** Requests of clients beyond those that are told apart. */
  readonly uncounted: number
}

interface Coverage {
  /** Requests that v2 answers. */
  readonly served: number
  /** Requests that need a v1 service. */
  readonly v1Only: number
  /** Requests whose operation v1 does not have either. */
  readonly unknown: number
  /** Requests outside v1, which go to v2 unchanged. */
  readonly native: number
}

interface V2Cost {
  readonly calls: number
  /** The calls that are saved while an answer is kept. */
  readonly kept: number
  /** The minute with the most calls; absent if the traffic has no times. */
  readonly peak?: { readonly at: number; readonly requests: number; readonly calls: number }
}

interface ReplayedOperation {
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

interface DifferenceRow {
  readonly code: string
  /** Requests of operations that may show it. */
  readonly requests: number
  readonly seen: string
}

interface UnknownRow {
  readonly method: string
  readonly path: string
  readonly why: string
  readonly requests: number
}

interface ClientRow {
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
  const { operations, differences, unknown, unlisted, clients, uncounted, assumptions } = replayed
  return [
    ...head(replayed),
    ...section('operations', first(top, table(operations.map(operationCells)))),
    ...section('dropped by v1 and v2 alike', first(top, operations.flatMap(droppedLines))),
    ...section(
      'differences to expect',
      differences.map(({ code, requests, seen }) => `${code}  ${many(requests, 'request')}  ${seen}`),
    ),
    ...section('unknown to v1', [
      ...first(
        top,
        unknown.map(({ method, path, why, requests }) => `${`${method} ${path}`.trim()}  ${many(requests, 'request')}  ${why}`),
      ),
      ...(unlisted > 0 ? [`${many(unlisted, 'request')} to further paths`] : []),
    ]),
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

const MINUTE = 60_000

/** The span of the traffic and its busiest minute. */
class TimeSums {
  readonly #minutes = new Map<number, { readonly at: number; requests: number; calls: number }>()
  #from = Number.POSITIVE_INFINITY
  #to = Number.NEGATIVE_INFINITY

  /** Extends the span of the traffic. */
  seenAt(at: number | undefined): void {
    if (at === undefined) return
    this.#from = Math.min(this.#from, at)
    this.#to = Math.max(this.#to, at)
  }

  /** Counts requests and their v2 calls in their minute, where they have one. */
  add({ at, times }: RequestGroup, calls: number): void {
    this.seenAt(at)
    if (at === undefined) return
    const minute = Math.floor(at / MINUTE) * MINUTE
    const known = this.#minutes.get(minute) ?? { at: minute, requests: 0, calls: 0 }
    known.requests += times
    known.calls += calls
    this.#minutes.set(minute, known)
  }

  span(): Replayed['span'] {
    return this.#from <= this.#to ? { from: this.#from, to: this.#to } : undefined
  }

  /** The minute with the most calls; undefined when nothing has a time. */
  peak(): V2Cost['peak'] {
    const [busiest] = [...this.#minutes.values()].sort((a, b) => b.calls - a.calls)
    return busiest && { ...busiest, calls: Math.round(busiest.calls) }
  }
}

/** A request that no table has; its path holds no id. */
export interface UnknownRequest extends Omit<UnknownRow, 'requests'> {
  /** v1 answered it with success, so its client misses it without v1. */
  readonly answered: boolean
}

/** Maximum clients, and unknown paths, that are told apart. */
const MOST = 10_000

/** Adds up the results of replaying. */
export class Summary {
  readonly #operations = new Map<string, OperationSum>()
  readonly #clients = new ClientSums()
  readonly #times = new TimeSums()
  readonly #unknown = new Map<string, Counting<UnknownRow>>()
  #unlisted = 0
  readonly #coverage: Counting<Coverage> = { served: 0, v1Only: 0, unknown: 0, native: 0 }
  readonly #total = { calls: 0, kept: 0 }
  readonly #unknownUse = createUnknownUses()

  /** Extends the span of the traffic. */
  seenAt(at: number | undefined): void {
    this.#times.seenAt(at)
  }

  operation(group: OperationRequests): void {
    const { operation, cost, times } = group
    const calls = times * cost.calls
    const sum = this.#operations.get(operation.id) ?? {
      operation,
      requests: 0,
      v2Calls: 0,
      refused: 0,
      parameters: new Map(),
      members: new Map(),
    }
    this.#operations.set(operation.id, sum)
    addTo(sum, group, calls)
    this.#total.calls += calls
    this.#total.kept += times * cost.kept
    const side = operation.kind === 'v1-only' ? 'v1Only' : 'served'
    this.#coverage[side] += times
    const client = this.#clients.add(group)
    if (client) {
      client[side] += times
      client.v2Calls += calls
      if (side === 'v1Only') client.blockers.add(operation.id)
    }
    this.#times.add(group, calls)
  }

  unknown(group: RequestGroup, { answered, ...request }: UnknownRequest): void {
    const { method, path } = request
    this.#coverage.unknown += group.times
    const client = this.#clients.add(group)
    if (client) client.unknown += group.times
    if (client && answered) client.blockers.add(this.#unknownUse(method, path))
    else if (client) client.unclear += group.times
    this.#times.add(group, 0)
    const key = `${method} ${path}`
    const row = this.#unknown.get(key) ?? { ...request, requests: 0 }
    if (this.#unknown.size < MOST || this.#unknown.has(key)) this.#unknown.set(key, row)
    else this.#unlisted += group.times
    row.requests += group.times
  }

  native(group: RequestGroup): void {
    this.#coverage.native += group.times
    this.#clients.add(group)
    this.#times.seenAt(group.at)
  }

  /** `seenOf` returns what a client sees of a difference. */
  result(differencesOf: (operation: string) => readonly string[], seenOf: (code: string) => string) {
    const coverage = this.#coverage
    const operations = [...this.#operations.values()].map((sum) => operationRowOf(sum, differencesOf(sum.operation.id))).sort(byRequests)
    const [span, peak] = [this.#times.span(), this.#times.peak()]
    return {
      requests: coverage.served + coverage.v1Only + coverage.unknown + coverage.native,
      ...(span && { span }),
      coverage,
      v2: { calls: Math.round(this.#total.calls), kept: Math.round(this.#total.kept), ...(peak && { peak }) },
      operations,
      differences: differenceRows(operations, seenOf),
      unknown: [...this.#unknown.values()].sort(byRequests),
      unlisted: this.#unlisted,
      clients: this.#clients.rows(),
      uncounted: this.#clients.uncounted,
    }
  }
}
