import { LRUCache } from 'lru-cache'
import { type ApiError, asApiError } from '../../errors.ts'
import { type Client, createInventory, createUnknownUses, type Inventory, type KindOf } from '../../migrate/clients.ts'
import { anonymousPath, isSecretName, withoutSecrets } from '../../migrate/compare/redact.ts'
import { shapeOf } from '../../migrate/evidence/standing.ts'
import { unknownParameters } from '../../serve/answer.ts'
import { createClassify } from '../../serve/classify.ts'
import { createRequest, takesBody } from '../../serve/request.ts'
import { createRouter, type Found, isFound, routeRequest } from '../../serve/route.ts'
import type { JsonObject } from '../../tables/json.ts'
import { createOnlyV1, type Env, type Mapping, type Operation, type V1Request, withV1Values } from '../../tables/operation.ts'
import { PAGE_SIZE } from '../../tables/pages.ts'
import { asParam } from '../../tables/query.ts'
import { differencesOf, operationsOf, type Tables } from '../../tables/tables.ts'
import type { Call, Outcome } from '../../tables/turn.ts'
import { variablesOf } from '../../tables/uid.ts'
import { IDS } from '../../tables/whole-list.ts'
import { droppedMembers } from '../explain.ts'
import { createShapes, type ExplainedRequest, follow, ordinary, withValues } from '../explore.ts'
import { increase, type Replayed, Summary, type UnknownRequest } from './summary.ts'
import { type Counted, createCountedCalls, type RecordedRequest, type Traffic } from './traffic.ts'

const ROOT = '0'.repeat(40)
const CHILD = `${ROOT}/${'0'.repeat(16)}`

/** One value of each class that `shapeOf` distinguishes. */
const VALUES: Readonly<Record<string, string>> = {
  empty: '',
  flag: 'true',
  zero: '0',
  negative: '-1',
  small: '50',
  large: '1000',
  root: ROOT,
  child: CHILD,
  deep: `${CHILD}/${'0'.repeat(16)}`,
  digest: `sha256:${'0'.repeat(64)}`,
  time: '2026-01-01T00:00:00Z',
  descending: 'name desc',
}

const BODY_VALUES: Readonly<Record<string, unknown>> = { ...VALUES, boolean: true, number: 1, null: null, none: [], list: [], object: {} }

/** Builds a request of this shape. Its way through the tables is that of the recorded request. */
function sampleOf(operation: Operation, shape = operation.id): V1Request {
  const parts = shape
    .slice(operation.id.length + 1)
    .split('&')
    .filter((part) => part !== '')
  const named = parts.map((part) => [part.slice(0, part.lastIndexOf('=')), part.slice(part.lastIndexOf('=') + 1)] as const)
  const given = named.filter(([name]) => !/^[{.(]/.test(name))
  const members = named.filter(([name]) => name.startsWith('.'))
  const variable = (name: string) => VALUES[named.find(([one]) => one === `{${name}}`)?.[1] ?? 'child'] ?? CHILD
  return {
    params: Object.fromEntries(variablesOf(operation.template).map((name) => [name, variable(name)])),
    query: new Map(given.map(([name, of]) => [name, valuesOf(operation, name, of)])),
    body: operation.request ? Object.fromEntries(members.map(([name, of]) => [name.slice(1), BODY_VALUES[of] ?? 'text'])) : undefined,
  }
}

function valuesOf(operation: Operation, name: string, of: string): readonly string[] {
  const row = operation.params[name]
  const choice = row === undefined ? undefined : asParam(row).of?.rows[0]?.[0]
  const value = VALUES[of] ?? (typeof choice === 'string' ? choice : CHILD)
  return of === 'several' ? [value, value] : [value]
}

/** What records and logs count of one operation. */
interface Uses {
  /** Requests by client, from sums of traffic or from log lines. */
  readonly summed: Map<string, number>
  /** Requests by client that were recorded one by one. Sums include them where there are sums. */
  readonly single: Map<string, number>
  readonly shapes: Map<string, number>
}

/** Gathers the counts in records and logs of the proxy until all of them are read. */
class CountedItems {
  readonly #uses = new Map<string, Uses>()

  add({ operation, shape, times, client = '' }: Counted): void {
    const own = this.#uses.get(operation) ?? { summed: new Map(), single: new Map(), shapes: new Map() }
    this.#uses.set(operation, own)
    if (times > 0) increase(own.summed, client, times)
    else increase(own.single, client, 1)
    if (shape !== undefined) increase(own.shapes, shape, 1)
  }

  /** Hands everything over to the summary. */
  finish(operations: readonly Operation[], cost: CostOf, summary: Summary): void {
    const known = new Map(withV1Values(operations).map((operation) => [operation.id, operation]))
    for (const [id, { summed, single, shapes }] of this.#uses) {
      const operation = known.get(id)
      const mean = operation && meanCost(operation, shapes, cost)
      for (const [client, times] of summed.size > 0 ? summed : single) {
        const use = { times, client: client === '' ? undefined : client }
        if (PASSED.has(id)) summary.native(use)
        else if (operation && mean) summary.operation({ ...use, operation, cost: mean })
        else summary.unknown(use, unknownOf(id))
      }
    }
  }
}

/** The names of requests and of gRPC calls that passed to v2 untranslated. */
const PASSED: ReadonlySet<string> = new Set(['native', 'grpc'])

/** Returns the method and path of a request that v1 answered and no table has, as far as they are recorded. */
function unknownOf(id: string): UnknownRequest {
  const [, method, path] = /^unknown (\S+) (.*)$/s.exec(id) ?? []
  const isKnown = method !== undefined && path !== undefined
  const named = isKnown ? { method, path } : { method: '', path: `(${id === 'unknown' ? 'not recorded' : id})` }
  return { ...named, why: 'no operation', answered: isKnown || id === 'unknown' }
}

/** Returns the mean cost of the recorded shapes, or the cost of the operation's plainest request if there are none. */
function meanCost(operation: Operation, shapes: ReadonlyMap<string, number>, cost: CostOf) {
  const sum = { calls: 0, kept: 0, times: 0 }
  for (const [shape, times] of shapes.size > 0 ? shapes : [[operation.id, 1] as const]) {
    // The sample of a shape is made of classes of values, so it may be refused although the real request was not.
    const own = cost(operation, sampleOf(operation, shape))
    const { calls, kept } = own.refused ? cost(operation, sampleOf(operation)) : own
    sum.calls += times * calls
    sum.kept += times * kept
    sum.times += times
  }
  return { calls: sum.calls / sum.times, kept: sum.kept / sum.times }
}

/** The v2 calls that one v1 request makes. */
export interface Cost {
  readonly calls: number
  /** The calls whose answers the proxy keeps for the caller, so that it does not repeat them at once. */
  readonly kept: number
  /** The request is refused before v2 is asked. */
  readonly refused?: ApiError
}

/** Returns the cost of one request of an operation. */
type CostOf = (operation: Operation, request: V1Request) => Cost

/** Maximum calls of an operation; one that never ends stops here. */
const MOST_CALLS = 100_000

/**
 * Counts the v2 calls of a request by running it against an imagined v2. Every call succeeds, and nothing is sent.
 * Every list that the request asks for holds `rows` rows and is served page by page. Every other list holds one row.
 */
export function costOf(subject: ExplainedRequest, rows: number): Cost {
  const { operation } = subject
  if (!operation.begin) return { calls: 0, kept: 0 }
  const values = ordinary(subject).base.values ?? new Map<string, string>()
  const answer = imagined(subject, operation.rows ? rows : 1, values)
  const made: Call[] = []
  const take = (call: Call) => {
    made.push(call)
    return answer(call, made.length)
  }
  const failed = follow(subject, take, () => made.length < MOST_CALLS)
  const kept = made.filter(({ keep }) => keep?.scope === 'caller').length
  return { calls: made.length, kept, ...(failed && made.length === 0 && { refused: failed }) }
}

/** Returns what answers each call with lists of `rows` rows. A list by uids holds what is named. */
function imagined({ operation, shapeOf }: ExplainedRequest, rows: number, values: ReadonlyMap<string, string>) {
  const known = (form: JsonObject) => withValues(form, values)
  return (call: Call, number: number): Outcome => {
    const { plural, body } = shapeOf(operation, call)
    if (plural === undefined) return { ok: true, body: known(body(number, 0)) }
    const uids = call.query.filter(([name]) => name === IDS).map(([, uid]) => uid)
    if (uids.length > 0) return { ok: true, body: { [plural]: uids.map((uid, nth) => ({ ...known(body(number, nth + 1)), uid })) } }
    const parameter = (name: string) => call.query.find(([given]) => given === name)?.[1]
    const from = Math.min(rows, Number(parameter('page_token') ?? parameter('skip') ?? 0))
    const skipped = Number(parameter('skip') ?? 0)
    const to = Math.min(rows, from + Number(parameter('page_size') ?? PAGE_SIZE))
    const page = Array.from({ length: to - from }, (_, nth) => identified(known(body(number, nth + 1)), from + nth))
    return { ok: true, body: { [plural]: page, nextPageToken: to < rows ? String(to) : '', totalCount: String(rows), skipped } }
  }
}

/** Gives a row a uid that rises with its position, as in a list sorted by uid. */
function identified(row: JsonObject, nth: number): JsonObject {
  const uid = `${'0'.repeat(40)}/${nth.toString(16).padStart(16, '0')}`
  return { ...row, uid, id: uid }
}

/** The destination of a request. */
export type RecordedRoute =
  /** An operation that only v1 knows has no plan. `form`: a POST that stands for a GET. */
  | { readonly kind: 'operation'; readonly operation: Operation; readonly request: V1Request; readonly form: boolean }
  /** An operation whose query or body cannot be read: v1 answers 400. */
  | { readonly kind: 'refused'; readonly operation: Operation; readonly error: ApiError }
  /** A v1 path that v1 does not have, or not with this method. `error` says why neither side is asked. */
  | {
      readonly kind: 'unknown'
      readonly path: string
      readonly why: 'no operation' | 'another method' | 'malformed'
      readonly error?: ApiError
    }
  /** Not a v1 path: passed on to v2 unchanged. */
  | { readonly kind: 'native' }

/** Routes requests with the proxy's own functions. */
export function createRouteRecorded(mappings: readonly Mapping[]): (sent: RecordedRequest) => RecordedRoute {
  const operations = operationsOf({ mappings })
  const classify = createClassify(mappings)
  const router = createRouter(operations)
  const onlyV1 = createOnlyV1(operations)
  return (sent) => {
    const target = classify(sent.url)
    if (target.kind === 'native') return { kind: 'native' }
    if (target.kind === 'refused') return { kind: 'unknown', path: '(not decodable)', why: 'malformed', error: target.error }
    const path = anonymousPath(target.path)
    try {
      const routed = routeRequest(router, sent, target.path)
      if (isFound(routed)) return read(routed, sent)
      return { kind: 'unknown', path, why: routed.match === undefined ? 'no operation' : 'another method' }
    } catch (thrown) {
      return { kind: 'unknown', path, why: 'another method', error: asApiError(thrown) }
    }
  }

  function read(routed: Found, { method, url, headers, body }: RecordedRequest): RecordedRoute {
    const text = takesBody(routed) ? body : undefined
    const raw = { id: '', method, url, headers, body: text === undefined ? undefined : Buffer.from(text) }
    const { operation, read } = createRequest(routed, raw)
    try {
      const request = read()
      return { kind: 'operation', operation: onlyV1(operation, () => request.query) ?? operation, request, form: routed.form }
    } catch (thrown) {
      return { kind: 'refused', operation, error: asApiError(thrown) }
    }
  }
}

/** Returns the clients of recorded traffic as the proxy would have counted them. Requests without a client count for none. */
export async function recordedClients({ items }: Traffic, mappings: readonly Mapping[], kindOf: KindOf): Promise<readonly Client[]> {
  const operations = operationsOf({ mappings })
  const inventory = createInventory(operations)
  const sent = countSent(inventory, mappings, kindOf)
  const countedCall = createCountedCalls(mappings)
  for await (const recorded of items) {
    const item = countedCall(recorded)
    const { client: caller, at = 0 } = item
    if (caller === undefined) continue
    if (!('operation' in item)) sent(caller, at, item)
    else {
      const { operation, times, requests = [] } = item
      if (times > 0) inventory.use({ caller }, { operation, mode: 'v1', calls: times, at })
      for (const { samples, ...kind } of requests) inventory.look(caller, operation, kind, samples)
    }
  }
  return inventory.clients()
}

function countSent(inventory: Inventory, mappings: readonly Mapping[], kindOf: KindOf) {
  const byId = new Map(operationsOf({ mappings }).map((operation) => [operation.id, operation]))
  const placeOf = createRouteRecorded(mappings)
  const nameOf = createUnknownUses()
  return (caller: string, at: number, item: RecordedRequest): void => {
    const place = placeOf(item)
    if (place.kind === 'unknown' && isSuccess(item.status))
      inventory.use({ caller }, { operation: nameOf(item.method, place.path), mode: 'v1', at })
    if (place.kind !== 'operation') return
    const { id } = place.operation
    const isWorthALook = inventory.use({ caller }, { operation: id, mode: 'v1', at })
    // A value that only v1 has is counted by a name of its own; the tables of its operation know the parameters.
    const described = byId.get(id.split('?')[0] ?? '')
    if (isWorthALook && described) inventory.look(caller, id, kindOf(described, place.request))
  }
}

/** Maximum costs of different requests that are kept. */
const COSTS = 10_000

/** Computes what recorded traffic would cost and meet today, without sending anything. Every list is assumed to hold `rows` rows. */
export async function replay(traffic: Traffic, tables: Tables, env: Env, rows: number): Promise<Replayed> {
  const summary = new Summary()
  const cost = createCostOf(tables, env, rows)
  const placeOf = createRouteRecorded(tables.mappings)
  const counted = new CountedItems()
  const countedCall = createCountedCalls(tables.mappings)
  for await (const recorded of traffic.items) {
    const item = countedCall(recorded)
    if ('operation' in item) {
      summary.seenAt(item.at)
      counted.add(item)
    } else addSent(item, placeOf(item), cost, summary)
  }
  counted.finish(operationsOf(tables), cost, summary)
  const seen = new Map(tables.differences.map((one) => [one.code, one.seen]))
  return {
    format: traffic.format,
    unreadable: traffic.unreadable(),
    unreadableLines: traffic.unreadableLines(),
    assumptions: assumptionsOf(rows, traffic.format === 'records'),
    ...summary.result(differencesOf(tables), (code) => seen.get(code) ?? ''),
  }
}

function addSent(item: RecordedRequest, place: RecordedRoute, cost: CostOf, summary: Summary): void {
  const use = { times: 1, client: item.client, at: item.at }
  if (place.kind === 'native') summary.native(use)
  else if (place.kind === 'unknown')
    summary.unknown(use, { method: item.method, path: place.path, why: place.why, answered: isSuccess(item.status) })
  else if (place.kind === 'refused')
    summary.operation({ ...use, operation: place.operation, cost: { calls: 0, kept: 0, refused: place.error } })
  else summary.operation({ ...use, operation: place.operation, cost: cost(place.operation, place.request), ...dropped(place) })
}

function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status < 400
}

function dropped({ operation, request }: { readonly operation: Operation; readonly request: V1Request }) {
  if (!operation.begin) return {}
  return {
    droppedParameters: unknownParameters(operation, request).map(nameToShow),
    droppedMembers: droppedMembers(operation, request.body).map(shown),
  }
}

/** Hides a name that no table has, because it may be anything, for example a pasted token. */
function nameToShow(name: string): string {
  return /^[A-Za-z][\w.[\]]{0,39}$/.test(name) && !isSecretName(name) && withoutSecrets(name) === name ? name : '(no name)'
}

function shown<T extends { readonly member: string }>(member: T): T {
  const parts = member.member.split('.').map((part) => (part === '' ? part : nameToShow(part)))
  return { ...member, member: parts.join('.') }
}

/** Computes the cost of a request once for all requests of the same shape and with the same numbers (a limit, a page size). */
function createCostOf(tables: Tables, env: Env, rows: number): CostOf {
  const shapes = createShapes(tables.mappings)
  const known = new LRUCache<string, Cost>({ max: COSTS })
  return (operation, request) => {
    const numbers = [...request.query].filter(([, values]) => values.every((value) => /^\d{1,9}$/.test(value)))
    const key = JSON.stringify([shapeOf(operation, request), numbers])
    const cost = known.get(key) ?? costOf({ operation, request, env, shapeOf: shapes }, rows)
    known.set(key, cost)
    return cost
  }
}

function assumptionsOf(rows: number, ofShapes: boolean): readonly string[] {
  return [
    `Every list holds ${rows} rows and is read in pages of ${PAGE_SIZE}; a request that asks for fewer gets fewer.`,
    'Every v2 call succeeds, and nothing is known from an earlier request.',
    ...(ofShapes ? ['Records keep shapes of requests and no values: an operation costs what its recorded shapes cost on average.'] : []),
  ]
}
