import type { EnumMap } from './enums.ts'
import type { JsonObject } from './json.ts'
import type { Env, V1Request } from './operation.ts'
import { readOrder } from './order.ts'
import { type Listing, PAGE_SIZE } from './page.ts'
import { fillPath } from './path.ts'
import { bodyOf, type Call, emit, type OneCall, type Outcome, type Plan, type Reply, ROWS } from './plan.ts'
import { asParam, count, type Params, type Query, single, v2Query } from './query.ts'
import { isRepeated, passes } from './recheck.ts'
import type { Message, Resource } from './resource.ts'
import { isRowText, type RowText } from './row-text.ts'
import type { Show } from './show.ts'
import { compilePage, type ReadBytes } from './text/page.ts'
import { isUid, uidInPath } from './uid.ts'
import { eachPage, firstPage, type Walked } from './walk.ts'
import { DEFAULT_PAGE, readWindow, type Window } from './window.ts'

/**
 * Completes v2 rows with what v1 showed in them; the calls it makes are part of the list's plan. `origin` tells whether the rows come
 * from v2's list or from its Get, which may know more.
 */
export type Enrich = (rows: readonly JsonObject[], env: Env, origin: 'list' | 'get') => Plan<readonly JsonObject[]>

export interface ListOptions {
  readonly query?: Params
  /** The v1 parameter that names one resource; v1 had no Get (facts §11). */
  readonly byId?: string
  readonly enrich?: Enrich
  /** The further calls that `enrich` makes, for people to read. */
  readonly calls?: readonly string[]
  /** v2 path template of the list, where it is not the resource's collection. */
  readonly v2?: string
  /** Further v2 query, computed from the v1 parameters that are named beside it. */
  readonly more?: { readonly params: readonly string[]; readonly query: (request: V1Request) => Filters }
  /** A list that v1 paged by token itself, and what it answers beside its rows: a table over `Walked` (facts §10.2). */
  readonly envelope?: Message
  /** v1 answered a page when nobody asked for one, and never more than the largest page of v2 (facts §20). */
  readonly pages?: true
  /** The list is an approximation of what v1 had; what it cannot know. */
  readonly emulated?: string
  /** v1's enum of sort orders, where it has one. */
  readonly orders?: EnumMap
}

/** Query parameters of the lists that v1 paged by token itself; `skip` is the published spelling of `offset` (facts §6, §7). */
export const TOKEN_PARAMETERS = { token: 'page_token', skip: 'skip' }

type Filters = Call['query']

/**
 * Rows that have no name are all of the same one: v1 left them in uid order, v2 refuses to sort by it. Rows of the advisory feed have an
 * id instead of a uid, and v2 calls the column so (facts §7, §21).
 */
function sortable({ fields, order: byDefault }: Resource, order: string | undefined): string | undefined {
  if (order?.startsWith('name') && !Object.hasOwn(fields, 'name')) return 'uid'
  return byDefault === 'id' ? order?.replace(/^uid/, 'id') : order
}

/** What a request asks of a list. */
interface Asked {
  /** The v2 filters; undefined when nothing can match them. */
  readonly filters: Filters | undefined
  readonly order: string | undefined
  readonly window: Window
  /** The only resource that is wanted. */
  readonly uid: string | undefined
}

function readList(resource: Resource, options: ListOptions, request: V1Request): Asked {
  const { query } = request
  const given = v2Query(options.query ?? NO_PARAMS, query)
  return {
    filters: merge(options.query ?? NO_PARAMS, options.more ? [...given, ...options.more.query(request)] : given),
    order: sortable(resource, readOrder(query, options.orders)),
    window: options.envelope ? tokenWindow(query, options) : readWindow(query),
    uid: options.byId ? single(query, options.byId) : undefined,
  }
}

/** The plan of every full-set list: by id, or page by page; complete and in order, or an error (design §4). */
export function* listPlan(resource: Resource, options: ListOptions, request: V1Request, env: Env): Plan {
  const { filters, order, window, uid } = readList(resource, options, request)
  const show = resource.show[env.dialect]
  const origin = uid ? 'get' : 'list'
  // A generator function that is made anew for each request would get a class and a prototype of its own each time.
  const send = (rows: readonly JsonObject[] | RowText) => sendRows(rows, { show, env, origin, enrich: options.enrich })
  const envelope = (walked: Partial<Walked>) => envelopeOf(options, request, env, walked)
  if (!filters) return items(envelope({}))
  if (uid) {
    const call = byId(resource, uid)
    const [outcome] = call ? yield { kind: 'ask', calls: [call] } : []
    const found = outcome ? foundIn(outcome, filters) : []
    yield* send(windowOf(found, window))
    return items(envelope(countedOf(found)))
  }
  return items(envelope(yield* eachPage(listingOf(resource, options, request, env, filters, order), window, send)))
}

/** The v2 list. */
function listingOf(
  resource: Resource,
  options: ListOptions,
  request: V1Request,
  env: Env,
  filters: Filters,
  order: string | undefined,
): Listing {
  const path = fillPath(options.v2 ?? resource.v2, request.params)
  const query: Filters = order === undefined ? filters : [...filters, ['order_by', order]]
  const read = options.enrich ? undefined : rowReader(resource, env)
  return { path, plural: resource.plural, order: order ?? resource.order, query, ...(read && { read }) }
}

/** The same for a list by id, or for no more than a page, whose rows need nothing else. */
export function oneAnswer(resource: Resource, options: ListOptions, request: V1Request, env: Env): OneCall | undefined {
  const { filters, order, window, uid } = readList(resource, options, request)
  if (!filters) return undefined
  const show = resource.show[env.dialect]
  const envelope = (walked: Partial<Walked>) => envelopeOf(options, request, env, walked)
  if (uid) return oneRow(byId(resource, uid), filters, window, show, envelope)
  const listing = listingOf(resource, options, request, env, filters, order)
  const first = firstPage(listing, window)
  return (
    first && {
      call: first.call,
      reply(outcome) {
        const page = first.pageIn(bodyOf(outcome))
        if (!page) return undefined
        const { rows, walked } = page
        if (isRowText(rows)) return { status: 200, body: envelope(walked) ?? {}, rows: true, text: rows }
        return { status: 200, body: { [ROWS]: rows.map(show), ...envelope(walked) } }
      },
    }
  )
}

function oneRow(
  call: Call | undefined,
  filters: Filters,
  window: Window,
  show: Show,
  envelope: (walked: Partial<Walked>) => JsonObject | undefined,
): OneCall | undefined {
  return (
    call && {
      call,
      reply(outcome) {
        const found = foundIn(outcome, filters)
        return { status: 200, body: { [ROWS]: windowOf(found, window).map(show), ...envelope(countedOf(found)) } }
      },
    }
  )
}

/** Undefined for what no uid can be. */
function byId({ v2 }: Resource, uid: string): Call | undefined {
  return isUid(uid) ? { method: 'GET', path: `${v2}/${uidInPath(uid, '')}`, query: [] } : undefined
}

/** Codes that a Get may give where v1's narrowing list showed nothing: missing, not visible, not a uid at all (facts §11). */
const INVISIBLE = new Set(['NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENT'])

/** The resource that a Get found as a list of one or none. */
function foundIn(outcome: Outcome, filters: Filters): readonly JsonObject[] {
  if (outcome.ok) return passes(outcome.body, filters) ? [outcome.body] : []
  if (INVISIBLE.has(outcome.error.code)) return []
  throw outcome.error
}

function windowOf(found: readonly JsonObject[], { skip, take = 1 }: Window): readonly JsonObject[] {
  return found.slice(skip, skip + take)
}

function countedOf(found: readonly JsonObject[]): Partial<Walked> {
  return { first: found[0], totalCount: String(found.length) }
}

/** What the list answers beside its rows. */
function envelopeOf({ envelope }: ListOptions, { query }: V1Request, { dialect }: Env, walked: Partial<Walked>): JsonObject | undefined {
  return envelope?.show[dialect]({ ...walked, scope: scopeOf(query) })
}

const NO_PARAMS: Params = {}

interface Sending {
  readonly show: (row: JsonObject) => JsonObject
  readonly enrich: Enrich | undefined
  readonly env: Env
  readonly origin: 'list' | 'get'
}

/** Sends rows on as v1 has them. */
function* sendRows(rows: readonly JsonObject[] | RowText, { show, enrich, env, origin }: Sending): Plan<void> {
  if (isRowText(rows)) return yield* emit(rows)
  const complete = enrich ? yield* enrich(rows, env, origin) : rows
  yield* emit(complete.map(show))
}

/** Readers of whole pages, made when they are first needed. */
const readers = new WeakMap<Env, Map<Resource['shown'], ReadBytes | undefined>>()

function rowReader({ plural, shown }: Resource, env: Env): ReadBytes | undefined {
  const known = readers.get(env) ?? new Map<Resource['shown'], ReadBytes | undefined>()
  readers.set(env, known)
  if (!known.has(shown)) known.set(shown, compilePage(plural, shown, env.dialect))
  return known.get(shown)
}

/** The window of a list that v1 paged by token: `page_size` rows from there, or a page of the usual size, or everything behind it. */
function tokenWindow(query: Query, { pages }: ListOptions): Window {
  const token = single(query, TOKEN_PARAMETERS.token) || undefined
  const skip = count(query, TOKEN_PARAMETERS.skip)
  const { take, ...window } = token ? { skip: 0, take: count(query, 'page_size') } : readWindow(query)
  return { ...window, ...(skip !== undefined && { skip }), take: pages ? Math.min(take ?? DEFAULT_PAGE, PAGE_SIZE) : take, token }
}

/** The resource that a list was asked to look below, if any. */
function scopeOf(query: Query): string | undefined {
  return single(query, 'uidp.children_of') || single(query, 'uidp.descendants_of') || undefined
}

/** The v1 envelope; the rows that the plan emitted become its `items`. */
export function items(more: JsonObject = {}): Reply {
  return { status: 200, body: more, rows: true }
}

/**
 * Two v1 filters may become the same singular v2 parameter: equal values are sent once, different ones match nothing (undefined), and
 * v2 would refuse the pair.
 */
function merge(params: Params, filters: Filters): Filters | undefined {
  if (!filters.some((_, at) => isRepeated(filters, at))) return filters
  const repeated = new Set(
    Object.values(params)
      .map(asParam)
      .filter(({ many }) => many)
      .map(({ v2 }) => v2),
  )
  // A flag that is false asks for nothing (proto3), so it does not contradict the same flag from another v1 filter.
  const asked = filters.filter(([name, value]) => value !== 'false' || !filters.some(([n, v]) => n === name && v === 'true'))
  const merged = new Map<string, string>()
  for (const [name, value] of asked) {
    const before = merged.get(name)
    if (before !== undefined && before !== value && !repeated.has(name)) return undefined
    merged.set(name, value)
  }
  return asked.filter(([name, value], at) => repeated.has(name) || asked.findIndex(([n, v]) => n === name && v === value) === at)
}
