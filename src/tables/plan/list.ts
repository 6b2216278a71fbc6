import { ApiError, isSaid } from '../../errors/api-error.ts'
import { passes, passesAll } from '../compile/recheck.ts'
import type { JsonObject } from '../json.ts'
import type { Env, V1Request } from '../language/operation.ts'
import { fillPath } from '../language/path.ts'
import { type Query, single } from '../language/query.ts'
import type { Resource } from '../language/resource.ts'
import { isUid, uidInPath } from '../language/uid.ts'
import { compilePage, compileRow, type ReadBytes } from '../text/page.ts'
import { isRowText, type RowText } from '../text/row-text.ts'
import { type Enrich, type Filters, type ListOptions, readList } from './list-query.ts'
import { type Listing, LOOKED_AT } from './page.ts'
import { bodyOf, type Call, emit, type OneCall, type Outcome, type Plan, type Reply, ROWS } from './plan.ts'
import { eachPage, firstPage, type Walked } from './walk.ts'
import type { Window } from './window.ts'

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
    const found = foundIn(outcome, filters, { uid, resource, env })
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
  const read = options.enrich ? undefined : readerIn(pageReaders, compilePage, resource, env)
  return { path, plural: resource.plural, order: order ?? resource.order, query, row: resource, ...(read && { read }) }
}

/** The same for a list by id, or for no more than a page, whose rows need nothing else. */
export function oneAnswer(resource: Resource, options: ListOptions, request: V1Request, env: Env): OneCall | undefined {
  const { filters, order, window, uid } = readList(resource, options, request)
  if (!filters) return undefined
  const show = resource.show[env.dialect]
  const envelope = (walked: Partial<Walked>) => envelopeOf(options, request, env, walked)
  if (uid) {
    const isText = !options.envelope && window.skip === 0 && passesAll(filters)
    const call = byId(resource, uid, isText ? readerIn(rowReaders, compileRow, resource, env) : undefined)
    return call && oneRow(call, { uid, resource, env }, filters, window, envelope)
  }
  const listing = listingOf(resource, options, request, env, filters, order)
  const first = firstPage(listing, window)
  return (
    first && {
      call: first.call,
      reply(outcome) {
        const page = first.pageIn(bodyOf(outcome, LOOKED_AT))
        if (!page) return undefined
        const { rows, walked } = page
        if (isRowText(rows)) return { status: 200, body: envelope(walked) ?? {}, rows: true, text: rows }
        return { status: 200, body: { [ROWS]: rows.map(show), ...envelope(walked) } }
      },
    }
  )
}

function oneRow(
  call: Call,
  wanted: Wanted,
  filters: Filters,
  window: Window,
  envelope: (walked: Partial<Walked>) => JsonObject | undefined,
): OneCall {
  const { plural, show } = wanted.resource
  return {
    call,
    reply(outcome) {
      const text = outcome.ok ? outcome.body[plural] : undefined
      if (isRowText(text)) return { status: 200, body: {}, rows: true, text }
      const found = foundIn(outcome, filters, wanted)
      return { status: 200, body: { [ROWS]: windowOf(found, window).map(show[wanted.env.dialect]), ...envelope(countedOf(found)) } }
    },
  }
}

/** Undefined for what no uid can be. */
function byId({ v2 }: Resource, uid: string, read?: Call['read']): Call | undefined {
  return isUid(uid) ? { method: 'GET', path: `${v2}/${uidInPath(uid, '')}`, query: [], ...(read && { read }) } : undefined
}

/** Codes that a Get may give where v1's narrowing list showed nothing: missing, not visible, not a uid at all (facts §11). */
const INVISIBLE = ['NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENT'] as const

/** The one resource that a request asks for. */
interface Wanted {
  readonly uid: string
  readonly resource: Resource
  readonly env: Env
}

/** The resource that a Get found as a list of one or none. There is no outcome where the id was no uid. */
function foundIn(outcome: Outcome | undefined, filters: Filters, { uid, resource, env }: Wanted): readonly JsonObject[] {
  if (outcome?.ok) {
    const found = bodyOf(outcome, resource)
    return passes(found, filters) ? [found] : []
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

/** What the list answers beside its rows. */
function envelopeOf({ envelope }: ListOptions, { query }: V1Request, { dialect }: Env, walked: Partial<Walked>): JsonObject | undefined {
  return envelope?.show[dialect]({ ...walked, scope: scopeOf(query) })
}

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

type Compile = typeof compilePage
type Readers = Map<Resource['shown'], ReadBytes | undefined>

/** Readers of whole pages, and of single rows, made when they are first needed. */
const pageReaders = new WeakMap<Env, Readers>()
const rowReaders = new WeakMap<Env, Readers>()

function readerIn(readers: WeakMap<Env, Readers>, compile: Compile, { plural, shown }: Resource, env: Env): ReadBytes | undefined {
  const known = readers.get(env) ?? new Map<Resource['shown'], ReadBytes | undefined>()
  if (known.size === 0) readers.set(env, known)
  if (!known.has(shown)) known.set(shown, compile(plural, shown, env.dialect))
  return known.get(shown)
}

/** The resource that a list was asked to look below, if any. */
function scopeOf(query: Query): string | undefined {
  return single(query, 'uidp.children_of') || single(query, 'uidp.descendants_of') || undefined
}

/** The v1 envelope; the rows that the plan emitted become its `items`. */
export function items(more: JsonObject = {}): Reply {
  return { status: 200, body: more, rows: true }
}
