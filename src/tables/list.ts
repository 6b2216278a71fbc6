import { ApiError, isSaid } from '../errors.ts'
import type { EnumMap } from './fields.ts'
import { type JsonObject, jsonTextOf } from './json.ts'
import type { Env, V1Request } from './operation.ts'
import {
  DEFAULT_PAGE,
  firstCall,
  type Listing,
  PAGE_SIZE,
  type Page,
  pageIn,
  readWindow,
  type Walked,
  type Window,
  walkOn,
  wholeIn,
} from './pages.ts'
import { asParam, count, type Params, type Query, readOrder, single, v2Query } from './query.ts'
import { passes, passesAll } from './recheck.ts'
import type { Message, Resource } from './resource.ts'
import { compilePage, compileRow, countOf, isRowText, type ReadPageText, ROW_TEXT, type RowText } from './text/engine.ts'
import { isLongList } from './text/parse-json.ts'
import { asked, bodyOf, type Call, emit, type Outcome, type Plan, pause, type Reply, replied, type Turn, turnOf } from './turn.ts'
import { fillPath, isUid, uidInPath } from './uid.ts'

type Compile = typeof compilePage

type Readers = Map<Resource['shown'], ReadPageText | undefined>

/** Readers of whole pages, and of single rows, created on demand. */
const pageReaders = new WeakMap<Env, Readers>()

const rowReaders = new WeakMap<Env, Readers>()

function readerIn(readers: WeakMap<Env, Readers>, compile: Compile, { plural, shown }: Resource, env: Env): ReadPageText | undefined {
  const known = readers.get(env) ?? new Map<Resource['shown'], ReadPageText | undefined>()
  if (known.size === 0) readers.set(env, known)
  if (!known.has(shown)) known.set(shown, compile(plural, shown, env.dialect))
  return known.get(shown)
}

/**
 * Completes v2 rows with the further members that v1 showed. Its calls are part of the list's plan.
 * `origin` says whether the rows come from v2's list or from its Get, which may hold more.
 */
export type Enrich = (rows: readonly JsonObject[], env: Env, origin: 'list' | 'get') => Plan<readonly JsonObject[]>

export interface ListOptions<V2 extends string = string> {
  readonly query?: Params
  /** The v1 parameter that selects one resource; v1 had no Get (facts §11). */
  readonly byId?: string
  readonly enrich?: Enrich
  /** The further calls of `enrich`, for people to read. */
  readonly calls?: readonly string[]
  /** The v2 path template of the list, if it is not the resource's collection. */
  readonly v2?: V2
  /** Further v2 query parameters, computed from the v1 parameters in `params`. */
  readonly more?: { readonly params: readonly string[]; readonly query: (request: V1Request) => Filters }
  /** For a list that v1 itself paged by token: its members beside the rows, as a table over `Walked` (facts §10.2). */
  readonly envelope?: Message
  /** True if v1 answered one page by default, and never more than v2's largest page (facts §20). */
  readonly pages?: true
  /** True if v1's page_size is a 64-bit number there (facts §5.1). */
  readonly longPages?: true
  /** Set if the list only approximates v1's: what it cannot know. */
  readonly emulated?: string
  /** True if v1 took a `skip` beside its page token (facts §6, §7). */
  readonly skips?: true
  /** v1's enum of sort orders, where it has one. */
  readonly orders?: EnumMap
}

/** The query parameters by which v1 itself paged some lists. Only those with `skips` had the second. */
export const TOKEN_PARAMETER = 'page_token'
export const SKIP_PARAMETER = 'skip'

/** The member of such a list's answer with the token of the next page. */
export const NEXT_TOKEN = 'next_page_token'

/** True if v1 took an order here. A list that it paged by token has its own: an enum, a parameter in its `query`, or none (facts §10.2). */
export function takesOrder({ envelope, orders }: ListOptions): boolean {
  return envelope === undefined || orders !== undefined
}

export type Filters = Call['query']

/** The parts of a request to a list. */
export interface Asked {
  /** The v2 filters; undefined if no row can match them. */
  readonly filters: Filters | undefined
  readonly order: string | undefined
  readonly window: Window
  /** The uid of the only resource that is wanted. */
  readonly uid: string | undefined
}

export function readList(resource: Resource, options: ListOptions, request: V1Request): Asked {
  const { query } = request
  const given = v2Query(options.query ?? NO_PARAMS, query)
  const filters = merge(options.query ?? NO_PARAMS, options.more ? [...given, ...options.more.query(request)] : given)
  const order = () => sortable(resource, readOrder(query, options.orders))
  // A request that is wrong in both is refused as in v1: its own enum of orders came first, every other order after the window.
  const ownOrder = options.orders && order()
  const window = options.envelope ? tokenWindow(query, options) : readWindow(query)
  return {
    filters,
    order: ownOrder ?? (takesOrder(options) ? order() : undefined),
    window,
    uid: options.byId ? single(query, options.byId) : undefined,
  }
}

const NO_PARAMS: Params = {}

/** Rows without a name all have the same one: v1 kept them in uid order, and v2 refuses to sort by it. */
function sortable({ fields }: Resource, order: string | undefined): string | undefined {
  return order?.startsWith('name') && !Object.hasOwn(fields, 'name') ? 'uid' : order
}

/**
 * Returns the window of a list that v1 paged by token:
 * `page_size` rows from the token, or a page of the default size, or all that follows. Without a token, other windows are followed too.
 */
export function tokenWindow(query: Query, { pages, longPages, skips }: ListOptions): Window {
  const sizeBits = longPages ? 64 : 32
  const token = single(query, TOKEN_PARAMETER) || undefined
  const skip = skips && count(query, SKIP_PARAMETER)
  const own = { skip: 0, take: count(query, 'page_size', sizeBits) }
  const { take, ...window } = (token ? undefined : rightWindow(query, sizeBits)) ?? own
  return { ...window, ...(skip !== undefined && { skip }), take: pages ? Math.min(take ?? DEFAULT_PAGE, PAGE_SIZE) : take, token }
}

/** v1 ignored every window but its own in these lists, so that a wrong one is no reason to refuse a request (facts §10.2). */
function rightWindow(query: Query, sizeBits: 32 | 64): Window | undefined {
  try {
    return readWindow(query, sizeBits)
  } catch {
    return undefined
  }
}

/**
 * Two v1 filters may map to one singular v2 parameter. Equal values are sent once.
 * Different values match nothing (undefined); v2 would refuse the pair.
 */
function merge(params: Params, filters: Filters): Filters | undefined {
  if (!filters.some((_, at) => isRepeated(filters, at))) return filters
  const repeated = new Set(
    Object.values(params)
      .map(asParam)
      .filter(({ many }) => many)
      .map(({ v2 }) => v2),
  )
  // A false flag filters nothing (proto3), so it does not contradict the same flag from another v1 filter.
  const wanted = new Set(filters.filter(([name, value]) => value === 'true' && !repeated.has(name)).map(([name]) => name))
  const asked = filters.filter(([name, value]) => value !== 'false' || !wanted.has(name))
  const merged = new Map<string, string>()
  const sent: Filters[number][] = []
  for (const [name, value] of asked) {
    const before = merged.get(name)
    if (before !== undefined && before !== value && !repeated.has(name)) return undefined
    if (before === undefined || repeated.has(name)) sent.push([name, value])
    merged.set(name, value)
  }
  return sent
}

/** True if the name at this index occurs before it too. Tables have few names, so the search is short. */
function isRepeated(filters: Filters, at: number): boolean {
  for (let before = 0; before < at; before += 1) if (filters[before]?.[0] === filters[at]?.[0]) return true
  return false
}

/** Returns the turn of rows that complete a list. */
export function sent(rows: Page['rows'], walked: Partial<Walked>, sending: Sending): Turn {
  if (sending.enrich || (!isRowText(rows) && isLongList(rows))) return turnOf(enriched(rows, walked, sending))
  const next = (): Turn => ({ kind: 'reply', reply: sending.envelope ? items(sending.envelope(walked)) : ROWS_ALONE })
  return countOf(rows) === 0 ? next() : { kind: 'rows', rows: isRowText(rows) ? rows : rows.map(sending.show), next }
}

function* enriched(rows: Page['rows'], walked: Partial<Walked>, sending: Sending): Plan {
  yield* sendRows(rows, sending)
  return items(sending.envelope?.(walked))
}

/** How the rows of one request become v1's, and the members beside them. */
interface Sending {
  readonly show: (row: JsonObject) => JsonObject
  readonly enrich: Enrich | undefined
  readonly env: Env
  readonly origin: 'list' | 'get'
  /** Undefined if nothing stands beside the rows. */
  readonly envelope: ((walked: Partial<Walked>) => JsonObject) | undefined
}

/** Sends rows in v1's form. */
function* sendRows(rows: Page['rows'], { show, enrich, env, origin }: Sending): Plan<void> {
  if (isRowText(rows)) return yield* emit(rows)
  const complete = enrich ? yield* enrich(rows, env, origin) : rows
  yield* emitShown(complete, show, isLongList(rows))
}

/** Bytes of rows that are written before others are served. */
const WRITTEN = 32 * 1024

/** Sends rows in v1's form. Those of a long answer are written one by one, with others served in between. */
export function* emitShown(rows: readonly JsonObject[], show: Sending['show'], areLong: boolean): Plan<void> {
  if (!areLong) return yield* emit(rows.map(show))
  const texts: RowText[] = []
  let bytes = 0
  for (const row of rows) {
    const text = rowTextOf(show(row))
    texts.push(text)
    bytes += text.bytes.length
    if (bytes < WRITTEN) continue
    bytes = 0
    yield* pause()
  }
  for (const text of texts) yield* emit(text)
}

function rowTextOf(row: JsonObject): RowText {
  const bytes = Buffer.from(`,${jsonTextOf(row)}`)
  return { [ROW_TEXT]: true, bytes, count: 1, first: '', last: '', second: bytes.length }
}

/** Returns the v1 envelope; the rows that the plan emitted become its `items`. */
export function items(more: JsonObject = {}): Reply {
  return { status: 200, body: more, rows: true }
}

const ROWS_ALONE = items()

/** Begins a full-set list: by id, or page by page; complete and in order, or an error (design §4). */
export function beginList(resource: Resource, options: ListOptions, request: V1Request, env: Env, route?: string): Turn {
  const wanted = readList(resource, options, request)
  const { filters, uid } = wanted
  const { enrich, envelope: beside } = options
  const envelope = beside && ((walked: Partial<Walked>) => beside.show[env.dialect]({ ...walked, scope: scopeOf(request.query) }))
  if (!filters) return replied(items(envelope?.({})))
  const sending = { show: resource.show[env.dialect], enrich, env, origin: uid ? 'get' : 'list', envelope } as const
  if (uid) return beginRow({ uid, resource, env }, filters, wanted.window, sending)
  return beginPages(listingOf(resource, options, request, env, filters, wanted.order, route), wanted.window, sending)
}

/** Begins a list of one resource by its id: a Get. */
function beginRow(wanted: Wanted, filters: Filters, window: Window, sending: Sending): Turn {
  const { uid, resource, env } = wanted
  const send = (found: readonly JsonObject[]) => sent(windowOf(found, window), countedOf(found), sending)
  if (!isUid(uid)) return send(foundIn(undefined, filters, wanted))
  const isText = !sending.enrich && !sending.envelope && window.skip === 0 && passesAll(filters)
  return asked(byId(resource, uid, isText ? readerIn(rowReaders, compileRow, resource, env) : undefined), ([outcome]) => {
    const text = outcome.ok ? outcome.body[resource.plural] : undefined
    return isRowText(text) ? sent(text, {}, sending) : send(foundIn(outcome, filters, wanted))
  })
}

/** Begins a list with its first page. */
function beginPages(listing: Listing, window: Window, sending: Sending): Turn {
  const call = firstCall(listing, window)
  return asked(call, ([outcome]) => {
    if (!outcome.ok) throw outcome.error
    const first = pageIn(listing, call, outcome.body)
    const whole = wholeIn(listing, window, first)
    return whole ? sent(first.rows, whole, sending) : turnOf(rest(listing, window, first, sending))
  })
}

function* rest(listing: Listing, window: Window, first: Page, sending: Sending): Plan {
  const walked = yield* walkOn(listing, window, first, (rows) => sendRows(rows, sending))
  return items(sending.envelope?.(walked))
}

/** Returns the v2 list. */
function listingOf(
  resource: Resource,
  options: ListOptions,
  request: V1Request,
  env: Env,
  filters: Filters,
  order: string | undefined,
  route: string | undefined,
): Listing {
  const path = fillPath(options.v2 ?? resource.v2, request.params, route)
  const query: Filters = order === undefined ? filters : [...filters, ['order_by', order]]
  const read = options.enrich ? undefined : readerIn(pageReaders, compilePage, resource, env)
  return { path, plural: resource.plural, order: order ?? resource.order, query, row: resource, ...(read && { read }) }
}

function byId({ v2 }: Resource, uid: string, read: Call['read']): Call {
  return { method: 'GET', path: `${v2}/${uidInPath(uid, '')}`, query: [], ...(read && { read }) }
}

/** Codes of a Get where v1's narrowing list showed nothing: missing, not visible, not a uid (facts §11). */
const INVISIBLE = ['NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENT'] as const

/** The one resource that a request asks for. */
interface Wanted {
  readonly uid: string
  readonly resource: Resource
  readonly env: Env
}

/** Returns the resource that a Get found as a list of one or none. Without an outcome, the id was no uid. */
function foundIn(outcome: Outcome | undefined, filters: Filters, { uid, resource, env }: Wanted): readonly JsonObject[] {
  if (outcome?.ok) {
    const found = bodyOf(outcome, resource)
    if (passes(found, filters)) return [found]
    // A member of a wrong type passes no filter.
    resource.show[env.dialect](found)
    return []
  }
  const error = outcome?.error
  if (error && !isSaid(error, ...INVISIBLE)) throw error
  if (env.notFound === 'empty' || error?.code === 'PERMISSION_DENIED') return []
  throw error?.code === 'NOT_FOUND' ? error : new ApiError('NOT_FOUND', `Not found: ${resource.name} ${JSON.stringify(uid)}`)
}

function windowOf(found: readonly JsonObject[], { skip, take = 1 }: Window): readonly JsonObject[] {
  return found.slice(skip, skip + take)
}

function countedOf(found: readonly JsonObject[]): Partial<Walked> {
  return { first: found[0], totalCount: String(found.length) }
}

/** Returns the resource that the list is limited to, if any. */
function scopeOf(query: Query): string | undefined {
  return single(query, 'uidp.children_of') || single(query, 'uidp.descendants_of') || undefined
}
