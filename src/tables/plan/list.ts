import { ApiError, isSaid } from '../../errors/api-error.ts'
import { passes, passesAll } from '../compile/recheck.ts'
import type { JsonObject } from '../json.ts'
import { fillPath } from '../language/path.ts'
import { type Query, single } from '../language/query.ts'
import type { Resource } from '../language/resource.ts'
import { isUid, uidInPath } from '../language/uid.ts'
import type { Env, V1Request } from '../operations/operation.ts'
import { compilePage, compileRow } from '../text/page-text.ts'
import { isRowText } from '../text/row-text.ts'
import { type Filters, type ListOptions, readList } from './list-query.ts'
import { type Listing, LOOKED_AT, type Page, pageIn } from './page.ts'
import { bodyOf, type Call, type Outcome, type Plan } from './plan.ts'
import { pageReaders, readerIn, rowReaders } from './row-readers.ts'
import { items, type Sending, sendRows, sent } from './send-rows.ts'
import { asked, replied, type Turn, turnOf } from './turn.ts'
import { firstCall, type Walked, walkOn, wholeIn } from './walk.ts'
import type { Window } from './window.ts'

/** Begins a full-set list: by id, or page by page; complete and in order, or an error (design §4). */
export function beginList(resource: Resource, options: ListOptions, request: V1Request, env: Env): Turn {
  const wanted = readList(resource, options, request)
  const { filters, uid } = wanted
  const envelope = (walked: Partial<Walked>) => envelopeOf(options, request, env, walked)
  if (!filters) return replied(items(envelope({})))
  const { enrich, envelope: beside } = options
  const sending = {
    show: resource.show[env.dialect],
    enrich,
    env,
    origin: uid ? 'get' : 'list',
    hasEnvelope: beside !== undefined,
    envelope,
  } as const
  if (uid) return beginRow({ uid, resource, env }, filters, wanted.window, sending)
  return beginPages(listingOf(resource, options, request, env, filters, wanted.order), wanted.window, sending)
}

/** Begins a list of one resource by its id: a Get. */
function beginRow(wanted: Wanted, filters: Filters, window: Window, sending: Sending): Turn {
  const { uid, resource, env } = wanted
  const send = (found: readonly JsonObject[]) => sent(windowOf(found, window), countedOf(found), sending)
  if (!isUid(uid)) return send(foundIn(undefined, filters, wanted))
  const isText = !sending.enrich && !sending.hasEnvelope && window.skip === 0 && passesAll(filters)
  return asked(byId(resource, uid, isText ? readerIn(rowReaders, compileRow, resource, env) : undefined), (outcome) => {
    const text = outcome.ok ? outcome.body[resource.plural] : undefined
    return isRowText(text) ? sent(text, {}, sending) : send(foundIn(outcome, filters, wanted))
  })
}

/** Begins a list with its first page. */
function beginPages(listing: Listing, window: Window, sending: Sending): Turn {
  const call = firstCall(listing, window)
  return asked(call, (outcome) => {
    const first = pageIn(listing, call, bodyOf(outcome, LOOKED_AT))
    const whole = wholeIn(listing, window, first)
    return whole ? sent(first.rows, whole, sending) : turnOf(rest(listing, window, first, sending))
  })
}

function* rest(listing: Listing, window: Window, first: Page, sending: Sending): Plan {
  const walked = yield* walkOn(listing, window, first, (rows) => sendRows(rows, sending))
  return items(sending.envelope(walked))
}

/** Returns the v2 list. */
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

/** Returns the members of the list answer beside its rows. */
function envelopeOf({ envelope }: ListOptions, { query }: V1Request, { dialect }: Env, walked: Partial<Walked>): JsonObject | undefined {
  return envelope?.show[dialect]({ ...walked, scope: scopeOf(query) })
}

/** Returns the resource that the list is limited to, if any. */
function scopeOf(query: Query): string | undefined {
  return single(query, 'uidp.children_of') || single(query, 'uidp.descendants_of') || undefined
}
