import type { JsonObject } from '../json.ts'
import type { EnumMap } from '../language/enums.ts'
import { readOrder } from '../language/order.ts'
import { asParam, type Params } from '../language/param.ts'
import { count, type Query, single, v2Query } from '../language/query.ts'
import type { Message, Resource } from '../language/resource.ts'
import type { Env, V1Request } from '../operations/operation.ts'
import { PAGE_SIZE } from './page.ts'
import type { Call, Plan } from './plan.ts'
import { DEFAULT_PAGE, readWindow, type Window } from './window.ts'

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
  const wanted = new Set(filters.filter(([, value]) => value === 'true').map(([name]) => name))
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
