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
 * Completes v2 rows with what v1 showed in them; the calls it makes are part of the list's plan. `origin` tells whether the rows come
 * from v2's list or from its Get, which may know more.
 */
export type Enrich = (rows: readonly JsonObject[], env: Env, origin: 'list' | 'get') => Plan<readonly JsonObject[]>

export interface ListOptions<V2 extends string = string> {
  readonly query?: Params
  /** The v1 parameter that names one resource; v1 had no Get (facts §11). */
  readonly byId?: string
  readonly enrich?: Enrich
  /** The further calls that `enrich` makes, for people to read. */
  readonly calls?: readonly string[]
  /** v2 path template of the list, where it is not the resource's collection; its variables are named as in the v1 route. */
  readonly v2?: V2
  /** Further v2 query, computed from the v1 parameters that are named beside it. */
  readonly more?: { readonly params: readonly string[]; readonly query: (request: V1Request) => Filters }
  /** A list that v1 paged by token itself, and what it answers beside its rows: a table over `Walked` (facts §10.2). */
  readonly envelope?: Message
  /** v1 answered a page when nobody asked for one, and never more than the largest page of v2 (facts §20). */
  readonly pages?: true
  /** v1 has page_size as a 64-bit number there (facts §5.1). */
  readonly longPages?: true
  /** The list is an approximation of what v1 had; what it cannot know. */
  readonly emulated?: string
  /** v1's enum of sort orders, where it has one. */
  readonly orders?: EnumMap
}

/** Query parameters of the lists that v1 paged by token itself; `skip` is the published spelling of `offset` (facts §6, §7). */
export const TOKEN_PARAMETERS = { token: 'page_token', skip: 'skip' }

export type Filters = Call['query']

/** What a request asks of a list. */
export interface Asked {
  /** The v2 filters; undefined when nothing can match them. */
  readonly filters: Filters | undefined
  readonly order: string | undefined
  readonly window: Window
  /** The only resource that is wanted. */
  readonly uid: string | undefined
}

export function readList(resource: Resource, options: ListOptions, request: V1Request): Asked {
  const { query } = request
  const given = v2Query(options.query ?? NO_PARAMS, query)
  return {
    filters: merge(options.query ?? NO_PARAMS, options.more ? [...given, ...options.more.query(request)] : given),
    order: sortable(resource, readOrder(query, options.orders)),
    window: options.envelope ? tokenWindow(query, options) : readWindow(query),
    uid: options.byId ? single(query, options.byId) : undefined,
  }
}

const NO_PARAMS: Params = {}

/**
 * Rows that have no name are all of the same one: v1 left them in uid order, v2 refuses to sort by it. Rows of the advisory feed have an
 * id instead of a uid, and v2 calls the column so (facts §7, §21).
 */
function sortable({ fields, order: byDefault }: Resource, order: string | undefined): string | undefined {
  if (order?.startsWith('name') && !Object.hasOwn(fields, 'name')) return 'uid'
  return byDefault === 'id' ? order?.replace(/^uid/, 'id') : order
}

/** The window of a list that v1 paged by token: `page_size` rows from there, or a page of the usual size, or everything behind it. */
function tokenWindow(query: Query, { pages, longPages }: ListOptions): Window {
  const sizeBits = longPages ? 64 : 32
  const token = single(query, TOKEN_PARAMETERS.token) || undefined
  const skip = count(query, TOKEN_PARAMETERS.skip)
  const { take, ...window } = token ? { skip: 0, take: count(query, 'page_size', sizeBits) } : readWindow(query, sizeBits)
  return { ...window, ...(skip !== undefined && { skip }), take: pages ? Math.min(take ?? DEFAULT_PAGE, PAGE_SIZE) : take, token }
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

/** Whether the name at this place stands before it too. The first that does is soon found: tables have few names. */
function isRepeated(filters: Filters, at: number): boolean {
  for (let before = 0; before < at; before += 1) if (filters[before]?.[0] === filters[at]?.[0]) return true
  return false
}
