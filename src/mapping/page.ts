import { isObject, type JsonObject } from './json.ts'
import { ask, type Call, type Plan } from './plan.ts'

/** The largest page v2 serves (specification §8). */
export const PAGE_SIZE = 200

/** One v2 list: where it is, how its rows are called, in which order they come. */
export interface Listing {
  readonly path: string
  readonly plural: string
  readonly order: string
  readonly query: Call['query']
}

/** One page of a v2 list. */
export interface Page {
  readonly rows: readonly JsonObject[]
  readonly nextPageToken: string
  readonly totalCount: string | undefined
  readonly skipped: number
}

/** Reads one page. */
export function* readPage(listing: Listing, size: number, position: Call['query']): Plan<Page> {
  return pageIn(listing, yield* ask(pageCall(listing, size, position)))
}

/** The call for a page of `size` rows; `position` says where it begins. */
export function pageCall({ path, query }: Listing, size: number, position: Call['query']): Call {
  return { method: 'GET', path, query: [...query, ['page_size', String(size)], ...position] }
}

/** The page in a v2 answer. */
export function pageIn({ plural }: Listing, body: JsonObject): Page {
  const rows = body[plural]
  return {
    rows: Array.isArray(rows) ? rows.filter(isObject) : [],
    nextPageToken: typeof body.nextPageToken === 'string' ? body.nextPageToken : '',
    totalCount: typeof body.totalCount === 'string' ? body.totalCount : undefined,
    skipped: typeof body.skipped === 'number' ? body.skipped : 0,
  }
}

/** What the rows of a page are told apart by. Rows of the advisory feed have an `id` instead of a uid (facts §7); some have neither. */
export function uidsIn({ rows }: Page): readonly string[] {
  return rows.map(({ uid, id }) => String(uid ?? id ?? '')).filter((uid) => uid !== '')
}
