import { type CodeName, isSaid, notAnswer } from '../errors.ts'
import { isIdentified } from './compile.ts'
import { isObject, type JsonObject } from './json.ts'
import { emitShown, items } from './list.ts'
import type { Env, Operation, V1Request } from './operation.ts'
import { type OperationOptions, operation } from './operations.ts'
import { isAnyTwice, type Listing, LOOKED_AT, PAGE_SIZE, pageCall, pageIn, readWindow, WINDOW_PARAMETERS } from './pages.ts'
import { ORDER_PARAMETER, readOrder } from './query.ts'
import type { Message, Resource } from './resource.ts'
import { countOf } from './text/engine.ts'
import { isLongList } from './text/parse-json.ts'
import { askAll, bodyOf, type Call, type Expected, type Outcome, type Plan, ROWS } from './turn.ts'
import { uidToldInPath } from './uid.ts'

/** A resource that rows refer to. Equal paths name the same one. */
export interface Reference {
  readonly resource: Resource
  readonly uid: string
  /** The path of its Get. */
  readonly path: string
}

/** The resources that were found, by the paths of their Gets. */
type FoundResources = ReadonlyMap<string, JsonObject>

/** Errors of a Get that a list tolerates: for every row, and for rows that can show a hidden value. */
const GONE = ['NOT_FOUND'] as const
const HIDDEN = ['NOT_FOUND', 'PERMISSION_DENIED'] as const

/** Every resource that rows refer to has a uid. */
const IDENTIFIED: Expected = { isAnswer: isIdentified }

/** Names a resource that other rows refer to. Throws INTERNAL if no path can hold the uid, which v2 told. */
export function lookUp(resource: Resource, uid: string): Reference {
  return { resource, uid, path: `${resource.v2}/${uidToldInPath(uid)}` }
}

/** Leaves out what is named twice. */
export function distinct(lookUps: readonly Reference[]): readonly Reference[] {
  return [...new Map(lookUps.map((one) => [one.path, one])).values()]
}

/**
 * Gets each resource once, in parallel, and returns path → resource. Missing resources are left out.
 * With `mayBeHidden`, so are resources that the caller may not see. Every other failure fails the list (facts §10.9).
 */
export function* hydrate(lookUps: readonly Reference[], { mayBeHidden = false } = {}): Plan<FoundResources> {
  const wanted = distinct(lookUps)
  const found = new Map<string, JsonObject>()
  for (const [at, outcome] of (yield* askAll(wanted.map(getCall))).entries()) {
    if (outcome.ok) found.set(wanted[at]?.path ?? '', bodyOf(outcome, IDENTIFIED))
    else if (!isSaid(outcome.error, ...(mayBeHidden ? HIDDEN : GONE))) throw outcome.error
  }
  return found
}

/** Rows of one request share the answer. */
function getCall({ path }: Reference): Call {
  return { method: 'GET', path, query: [], keep: { key: path, scope: 'request' } }
}

/** The parameter by which a list of v2 shows exactly these uids (facts §10.4). */
export const IDS = 'uidp.ids'

/** The longest query of a list by uids, in characters: servers refuse lines above 8,000. Its rows fit on one page. */
const LONGEST_QUERY = 6000

const BESIDE_UID = `&${IDS}=`.length

/**
 * Errors of a service, or of a gateway before it, that takes no list by uids, or none so long. The specification does not show the
 * parameter (facts §11).
 */
const NOT_TAKEN: ReadonlySet<CodeName> = new Set(['INVALID_ARGUMENT', 'NOT_FOUND', 'PERMISSION_DENIED', 'UNIMPLEMENTED'])

/** A list by uids. */
interface Search {
  readonly listing: Listing
  readonly call: Call
  readonly wanted: readonly Reference[]
}

/**
 * Finds each resource once and returns path → resource, with one list by uids for all of a collection (facts §10.4).
 * For resources whose list shows what their Get shows, and rows that can say that a value is hidden: a list leaves out what is
 * gone and what the caller may not see (facts §10.8). If v2 does not take the list, or does not show it whole, Gets find the rest.
 *
 *     const found = yield* findAll(rows.map(({ roleUid }) => lookUp(role, asText(roleUid))))
 */
export function* findAll(lookUps: readonly Reference[]): Plan<FoundResources> {
  const searches = searchesFor(distinct(lookUps))
  const found = new Map<string, JsonObject>()
  const left: Reference[] = []
  for (const [at, outcome] of (yield* askAll(searches.map(({ call }) => call))).entries()) {
    left.push(...takeListed(found, searches[at] as Search, outcome))
  }
  return left.length === 0 ? found : new Map([...found, ...(yield* hydrate(left, { mayBeHidden: true }))])
}

/** Adds what a list by uids shows. Returns what must be found otherwise. */
function takeListed(found: Map<string, JsonObject>, { listing, call, wanted }: Search, outcome: Outcome): readonly Reference[] {
  if (!outcome.ok && NOT_TAKEN.has(outcome.error.code)) return wanted
  const { rows, nextPageToken, totalCount = '0', isMiscounted } = pageIn(listing, call, bodyOf(outcome, LOOKED_AT))
  const byUid = new Map((rows as readonly JsonObject[]).map((row) => [row.uid, row]))
  for (const { uid, path } of wanted) {
    const row = byUid.get(uid)
    if (row) found.set(path, row)
  }
  const isWhole = nextPageToken === '' && !isMiscounted && Number(totalCount) <= countOf(rows)
  return isWhole ? [] : wanted.filter(({ path }) => !found.has(path))
}

function searchesFor(lookUps: readonly Reference[]): readonly Search[] {
  const byResource = new Map<Resource, Reference[]>()
  for (const one of lookUps) {
    const own = byResource.get(one.resource)
    if (own) own.push(one)
    else byResource.set(one.resource, [one])
  }
  return [...byResource].flatMap(([resource, wanted]) => sharesOf(inOrder(wanted)).map((share) => searchFor(resource, share)))
}

/** Pages whose rows refer to the same resources then share one call. */
function inOrder(lookUps: readonly Reference[]): readonly Reference[] {
  return [...lookUps].sort((a, b) => (a.uid < b.uid ? -1 : 1))
}

/** Returns the look-ups of each call. */
function sharesOf(lookUps: readonly Reference[]): readonly (readonly Reference[])[] {
  const shares: Reference[][] = []
  let room = 0
  for (const one of lookUps) {
    const length = BESIDE_UID + encodeURIComponent(one.uid).length
    if (length > room) {
      shares.push([])
      room = LONGEST_QUERY
    }
    shares.at(-1)?.push(one)
    room -= length
  }
  return shares
}

function searchFor(resource: Resource, wanted: readonly Reference[]): Search {
  const { v2, plural, order } = resource
  const listing = { path: v2, plural, order, query: wanted.map(({ uid }) => [IDS, uid] as const), row: resource }
  const keep = { key: `${v2} ${wanted.map(({ uid }) => uid).join()}`, scope: 'request', size: wanted.length } as const
  return { listing, call: { ...pageCall(listing, PAGE_SIZE, []), keep }, wanted }
}

/** Makes the calls of a list; returns the rows in v1's order. */
export type ReadWhole = (request: V1Request) => Plan<{ readonly rows: unknown; readonly envelope?: JsonObject }>

/** A v2 answer that holds every row of a v1 list. */
interface WholeList extends Pick<OperationOptions, 'kind' | 'because' | 'calls' | 'params' | 'rowsIn'> {
  /** One row. */
  readonly row: Message
  /** The members beside the rows. */
  readonly envelope?: Message
  /**
   * True if the rows come by id and a client may reverse them. All other orders have no effect, since the rows have no other sort field.
   */
  readonly byId?: true
  readonly read: ReadWhole
}

/**
 * A list that v2 answers at once, without pages. The proxy applies windows and order (specification §9.5).
 *
 *     wholeList('advisory.documents.list', 'GET /advisory/v1/documents', {
 *       calls: ['GET /advisory/v2/documents'],
 *       row: document,
 *       rowsIn: 'documents',
 *       *read() {
 *         const { documents } = yield* ask({ method: 'GET', path: '/advisory/v2/documents', query: [] }, answer)
 *         return { rows: documents }
 *       },
 *     })
 */
export function wholeList(id: string, route: string, { row, envelope, byId, read, ...rest }: WholeList): Operation {
  return operation(id, route, {
    ...rest,
    ownParams: [...(byId ? [ORDER_PARAMETER] : []), ...WINDOW_PARAMETERS],
    answer: row,
    rows: true,
    ...(envelope && { envelope }),
    missing: 'empty',
    empty: (dialect) => ({ [ROWS]: [], ...envelope?.show[dialect]({}) }),
    *plan(request: V1Request, { dialect }: Env) {
      const { skip, take } = readWindow(request.query)
      const turned = byId && readOrder(request.query) === 'uid desc'
      const found = yield* read(request)
      const rows = rowsIn(found)
      const ordered = turned ? rows.toReversed() : rows
      yield* emitShown(ordered.slice(skip, take === undefined ? undefined : skip + take), row.show[dialect], isLongList(rows))
      return items(envelope?.show[dialect](found.envelope ?? {}))
    },
  })
}

/** An empty list may be absent. Throws INTERNAL if the rows are no list of objects, or if one is there twice. */
function rowsIn({ rows }: { readonly rows: unknown }): readonly JsonObject[] {
  if (rows === undefined || rows === null) return []
  if (!Array.isArray(rows) || !rows.every(isObject) || isAnyTwice(rows)) throw notAnswer({ rows })
  return rows
}
