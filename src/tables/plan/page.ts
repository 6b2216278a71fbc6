import { notAnswer } from '../../errors/from-v2.ts'
import { asText, isObject, type JsonObject } from '../json.ts'
import { countOf, isRowText, type RowText } from '../text/row-text.ts'
import { ask, type Call, type Expected, type Plan } from './plan.ts'

/** v2's largest page (specification §8). */
export const PAGE_SIZE = 200

/** One v2 list: its path, the name of its rows, and their order. */
export interface Listing {
  readonly path: string
  readonly plural: string
  readonly order: string
  readonly query: Call['query']
  /** The test whether an object can be a row. */
  readonly row: Expected
  /** Turns the rows of an answer into v1 text, if their visitor can use that. */
  readonly read?: Call['read']
}

/** A list whose rows are objects. */
export type Unread = Omit<Listing, 'read'> & { readonly read?: never }

/** One page of a v2 list. */
export interface Page<Rows = readonly JsonObject[] | RowText> {
  readonly rows: Rows
  readonly nextPageToken: string
  readonly totalCount: string | undefined
  readonly skipped: number
}

/** Handles the rows of each page. A visit that sends rows or makes calls is a plan. */
export type Visit = (rows: Page['rows']) => Plan<void> | undefined

/** Reads one page. */
export function* readPage(listing: Unread, size: number, position: Call['query']): Plan<Page<readonly JsonObject[]>> {
  const page = yield* askPage(listing, pageCall(listing, size, position))
  return { ...page, rows: isRowText(page.rows) ? [] : page.rows }
}

/** Makes the call for a page; `ahead` as in Step. Throws the errors of `pageIn`. */
export function* askPage(listing: Listing, call: Call, ahead?: readonly Call[]): Plan<Page> {
  return pageIn(listing, call, yield* ask(call, LOOKED_AT, ahead))
}

/** Accepts everything: `pageIn` checks every page itself. */
export const LOOKED_AT: Expected = { isAnswer: () => true }

/** Returns the call for a page of `size` rows that begins at `position`. */
export function pageCall(listing: Listing, size: number, position: Call['query']): Call {
  return { method: 'GET', path: listing.path, query: pageQuery(listing, size, position), ...(listing.read && { read: listing.read }) }
}

/** Returns the call for a further page of a list. */
export function furtherPage(listing: Listing, size: number, position: Call['query']): Call {
  const { path, read } = listing
  return { method: 'GET', path, query: pageQuery(listing, size, position), bulk: true, ...(read && { read }) }
}

function pageQuery({ query }: Listing, size: number, position: Call['query']): Call['query'] {
  return [...query, ['page_size', String(size)], ...position]
}

/** Returns the page in the answer to this call. An answer that is no page, or contradicts itself, is INTERNAL: v2 did not send it. */
export function pageIn({ plural, row }: Listing, call: Call, body: JsonObject): Page {
  const rows = rowsIn(body[plural], row)
  const nextPageToken = body.nextPageToken ?? ''
  const totalCount = totalIn(body.totalCount)
  if (!rows || typeof nextPageToken !== 'string' || totalCount === null) throw notAnswer(body)
  const page = {
    rows: rows === 'absent' ? [] : rows,
    nextPageToken,
    totalCount,
    skipped: typeof body.skipped === 'number' ? body.skipped : 0,
  }
  if (rows === 'absent' ? !isEmptyByCount(page, call) : isContradictory(page, call)) throw notAnswer(body)
  return page
}

function rowsIn(rows: unknown, { isAnswer }: Expected): Page['rows'] | 'absent' | undefined {
  if (isRowText(rows)) return rows
  if (rows === undefined || rows === null) return 'absent'
  return Array.isArray(rows) && rows.every((one) => isObject(one) && isAnswer(one)) ? rows : undefined
}

const COUNT = /^\d{1,19}$/

/** A count is a text or a number (facts §16.5). Returns null if it is neither. */
function totalIn(total: unknown): string | undefined | null {
  if (total === undefined || total === null) return undefined
  if (typeof total === 'number') return Number.isSafeInteger(total) && total >= 0 ? String(total) : null
  return typeof total === 'string' && COUNT.test(total) ? total : null
}

/** v2 always shows the list. proto3 may omit an empty one; then the count must say that there are no rows. */
function isEmptyByCount(page: Page, call: Call): boolean {
  return page.totalCount !== undefined && page.nextPageToken === '' && Number(page.totalCount) <= (beginOf(call) ?? 0)
}

/**
 * True if there are more rows than the count says, or none although it says that there are some.
 * A count above the rows of a last page is no contradiction: rows come and go between counting and reading.
 */
function isContradictory({ rows, totalCount, nextPageToken }: Page, call: Call): boolean {
  if (totalCount === undefined) return false
  const shown = countOf(rows)
  const begin = beginOf(call)
  return shown > 0 ? (begin ?? 0) + shown > Number(totalCount) : nextPageToken === '' && begin !== undefined && Number(totalCount) > begin
}

/** Returns the number of rows before the page of a call; undefined behind a cursor. */
function beginOf({ query }: Call): number | undefined {
  let begin = 0
  for (const [name, value] of query) {
    if (name === 'page_token') return undefined
    if (name === 'skip') begin = Number(value)
  }
  return begin
}

/**
 * Returns the ids that distinguish the rows of a page; for rows as text, those of the first and the last.
 * Rows of the advisory feed have an `id` instead of a uid (facts §7); some rows have neither.
 */
export function uidsIn({ rows }: Page): readonly string[] {
  if (isRowText(rows)) return rows.count > 1 ? [rows.first, rows.last] : rows.count === 1 ? [rows.first] : []
  return rows.map(({ uid, id }) => asText(uid ?? id ?? '')).filter((uid) => uid !== '')
}

/** Returns the number of rows of a page. */
export function sizeOf({ rows }: Page): number {
  return countOf(rows)
}
