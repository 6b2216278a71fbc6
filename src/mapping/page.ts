import { asText, isObject, type JsonObject } from './json.ts'
import { ask, type Call, type Plan } from './plan.ts'
import { countOf, isRowText, type RowText } from './row-text.ts'

/** The largest page v2 serves (specification §8). */
export const PAGE_SIZE = 200

/** One v2 list: where it is, how its rows are called, in which order they come. */
export interface Listing {
  readonly path: string
  readonly plural: string
  readonly order: string
  readonly query: Call['query']
  /** Turns the rows of an answer into v1 text, where those who visit them can do with that. */
  readonly read?: Call['read']
}

/** A list whose rows come as objects. */
export type Unread = Omit<Listing, 'read'> & { readonly read?: never }

/** One page of a v2 list. */
export interface Page<Rows = readonly JsonObject[] | RowText> {
  readonly rows: Rows
  readonly nextPageToken: string
  readonly totalCount: string | undefined
  readonly skipped: number
}

/** What is done with each page's rows; a visit that sends rows on or makes calls is a plan. */
export type Visit = (rows: Page['rows']) => Plan<void> | undefined

/** Reads one page. */
export function* readPage(listing: Unread, size: number, position: Call['query']): Plan<Page<readonly JsonObject[]>> {
  const page = pageIn(listing, yield* ask(pageCall(listing, size, position)))
  return { ...page, rows: isRowText(page.rows) ? [] : page.rows }
}

/** The call for a page of `size` rows; `position` says where it begins. */
export function pageCall(listing: Listing, size: number, position: Call['query']): Call {
  return { method: 'GET', path: listing.path, query: pageQuery(listing, size, position), ...(listing.read && { read: listing.read }) }
}

/** The call for a further page of a list. */
export function furtherPage(listing: Listing, size: number, position: Call['query']): Call {
  const { path, read } = listing
  return { method: 'GET', path, query: pageQuery(listing, size, position), bulk: true, ...(read && { read }) }
}

function pageQuery({ query }: Listing, size: number, position: Call['query']): Call['query'] {
  return [...query, ['page_size', String(size)], ...position]
}

/** The page in a v2 answer. */
export function pageIn({ plural }: Listing, body: JsonObject): Page {
  const rows = body[plural]
  return {
    rows: isRowText(rows) ? rows : Array.isArray(rows) ? rows.filter(isObject) : [],
    nextPageToken: typeof body.nextPageToken === 'string' ? body.nextPageToken : '',
    totalCount: typeof body.totalCount === 'string' ? body.totalCount : undefined,
    skipped: typeof body.skipped === 'number' ? body.skipped : 0,
  }
}

/**
 * What the rows of a page are told apart by; of rows that are text, the first and the last. Rows of the advisory feed have an `id` instead
 * of a uid (facts §7); some have neither.
 */
export function uidsIn({ rows }: Page): readonly string[] {
  if (isRowText(rows)) return rows.count > 1 ? [rows.first, rows.last] : rows.count === 1 ? [rows.first] : []
  return rows.map(({ uid, id }) => asText(uid ?? id ?? '')).filter((uid) => uid !== '')
}

/** How many rows a page has. */
export function sizeOf({ rows }: Page): number {
  return countOf(rows)
}
