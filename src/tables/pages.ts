import { ApiError, invalidArgument, notAnswer } from '../errors.ts'
import { asText, isObject, type JsonObject } from './json.ts'
import { count, isAnyGiven, type Query, spellings } from './query.ts'
import { behindFirst, countOf, isRowText, type RowText } from './text/engine.ts'
import { ask, type Call, type Expected, type Plan } from './turn.ts'

/** The part of a full-set list that a v1 client asked for; without `take`, to the end. */
export interface Window {
  readonly skip: number
  readonly take: number | undefined
  /** The v2 page token to continue from, where v1 itself paged by token. */
  readonly token?: string | undefined
}

/** The full set. */
export const EVERYTHING: Window = { skip: 0, take: undefined }

/**
 * v1's ways to ask for a part of a list (specification §9.5).
 * A family that counts pages has a parameter for their size; pages count from 1.
 */
const FAMILIES = [
  { start: 'offset', size: 'limit', paged: false },
  { start: 'page', size: 'page_size', paged: true },
  { start: 'page_number', size: 'per_page', paged: true },
] as const

export const WINDOW_PARAMETERS: readonly string[] = FAMILIES.flatMap(({ start, size }) => [start, size])

/** Those that a list ignored in v1 if v1 paged it by token: only the size of a page was known there. */
export const UNPAGED_PARAMETERS: ReadonlySet<string> = new Set(WINDOW_PARAMETERS.filter((name) => name !== 'page_size').flatMap(spellings))

const SPELLED = new Set(WINDOW_PARAMETERS.flatMap(spellings))

/** The page size if the client gave none: v2's own default (specification §8). */
export const DEFAULT_PAGE = 50

/** v2's `skip` has 32 bits. No list is that long, so that a page behind it is empty as well. */
const MOST_SKIPPED = 2 ** 31 - 1

/**
 * Returns the window of a v1 query; without any parameter, the whole set. Two families at once are INVALID_ARGUMENT.
 * `sizeBits` is the size of page_size where v1 itself has it.
 */
export function readWindow(query: Query, sizeBits: 32 | 64 = 32): Window {
  if (!isAnyGiven(query, SPELLED)) return EVERYTHING
  const used = FAMILIES.map((family) => ({
    family,
    start: count(query, family.start),
    size: count(query, family.size, family.size === 'page_size' ? sizeBits : 32),
  })).filter(({ start, size }) => start !== undefined || size !== undefined)
  const [first, second] = used
  if (!first) return EVERYTHING
  if (second) {
    const description = `cannot be combined with ${first.family.start} and ${first.family.size}`
    throw invalidArgument({ field: second.start === undefined ? second.family.size : second.family.start, description })
  }
  const { family, start, size } = first
  if (!family.paged) return { skip: start ?? 0, take: size }
  const take = size ?? DEFAULT_PAGE
  return { skip: Math.min(((start ?? 1) - 1) * take, MOST_SKIPPED), take }
}

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
  /** It has more rows than it counts, or none although it counts some: rows come and go between counting and reading. */
  readonly isMiscounted: boolean
}

/** Handles the rows of each page. A visit that sends rows or makes calls is a plan. */
type Visit = (rows: Page['rows']) => Plan<void> | undefined

/** Reads one page. */
export function* readPage(listing: Unread, size: number, position: Call['query']): Plan<Page<readonly JsonObject[]>> {
  const page = yield* askPage(listing, pageCall(listing, size, position))
  const rows = isRowText(page.rows) ? [] : page.rows
  if (isShort({ skip: 0, take: size }, page, rows.length)) throw notAnswer(page)
  return { ...page, rows }
}

/** Makes the call for a page; `ahead` as in Step. Throws the errors of `pageIn` and `counted`. */
function* askPage(listing: Listing, call: Call, ahead?: readonly Call[]): Plan<Page> {
  return yield* counted(listing, call, pageIn(listing, call, yield* ask(call, LOOKED_AT, ahead)))
}

/** Returns a page whose count fits its rows. If this one's does not, v2 is asked once more; a second time is INTERNAL. */
function* counted(listing: Listing, call: Call, page: Page): Plan<Page> {
  if (!page.isMiscounted) return page
  const body = yield* ask(call, LOOKED_AT)
  const other = pageIn(listing, call, body)
  if (other.isMiscounted) throw notAnswer(body)
  return other
}

/** Accepts everything: `pageIn` checks every page itself. */
export const LOOKED_AT: Expected = { isAnswer: () => true }

/** Returns the call for a page of `size` rows that begins at `position`. */
export function pageCall({ path, query, read }: Listing, size: number, position: Call['query']): Call {
  return { method: 'GET', path, query: [...query, ['page_size', String(size)], ...position], ...(read && { read }) }
}

/** Returns the call for a further page of a list. */
function furtherPage(listing: Listing, size: number, position: Call['query']): Call {
  return { ...pageCall(listing, size, position), bulk: true }
}

/** Returns the page in the answer to this call. An answer that is no page, or contradicts itself, is INTERNAL: v2 did not send it. */
export function pageIn({ plural, row }: Listing, call: Call, body: JsonObject): Page {
  const given = body[plural]
  const rows = isRowText(given) ? given : rowsIn(given, row, call)
  const nextPageToken = body.nextPageToken ?? ''
  const total = body.totalCount
  const totalCount = typeof total === 'string' && COUNT.test(total) ? total : totalIn(total)
  if (!rows || typeof nextPageToken !== 'string' || totalCount === null) throw notAnswer(body)
  // A gateway that renames members hides the token of the next page, and the list would end early.
  if ('next_page_token' in body || 'total_count' in body) throw notAnswer(body)
  const page = {
    rows: rows === 'absent' ? [] : rows,
    nextPageToken,
    totalCount,
    skipped: typeof body.skipped === 'number' ? body.skipped : 0,
  }
  const fault = faultOf(page, call, rows === 'absent')
  if (fault === 'wrong') throw notAnswer(body)
  return { ...page, isMiscounted: fault === 'miscounted' }
}

/**
 * Returns `wrong` if a page does not fit its call: it is longer than the call allows, or begins elsewhere; `miscounted` as in Page. A count
 * above the rows of a last page is no fault.
 */
function faultOf(
  { rows, totalCount, nextPageToken, skipped }: Omit<Page, 'isMiscounted'>,
  { query }: Call,
  isAbsent: boolean,
): 'wrong' | 'miscounted' | undefined {
  let isFirst = true
  let skip = 0
  let size = PAGE_SIZE
  for (const [name, value] of query) {
    if (name === 'page_token') isFirst = false
    else if (name === 'skip') skip = Number(value)
    else if (name === 'page_size') size = Number(value)
  }
  const shown = countOf(rows)
  // `skipped` echoes `skip`; behind a cursor it may also count what was skipped before (specification §2, facts §18).
  if (shown > size || (skip > 0 && (isFirst ? skipped !== skip : skipped < skip))) return 'wrong'
  // The number of rows before the page is unknown behind a cursor.
  const before = isFirst ? skip : 0
  // v2 always shows the list. proto3 may omit an empty one; then the count must say that there are no rows.
  if (isAbsent && (totalCount === undefined || nextPageToken !== '' || (!isFirst && Number(totalCount) > 0))) return 'wrong'
  if (totalCount === undefined) return undefined
  const total = Number(totalCount)
  const isMiscounted = shown > 0 ? before + shown > total : isFirst && nextPageToken === '' && total > before
  return isMiscounted ? 'miscounted' : undefined
}

function sizeAskedFor({ query }: Call): number {
  const sizes = query.filter(([name]) => name === 'page_size').map(([, size]) => Number(size))
  return sizes.at(-1) ?? PAGE_SIZE
}

function rowsIn(rows: unknown, { isAnswer }: Expected, call: Call): readonly JsonObject[] | 'absent' | undefined {
  if (rows === undefined || rows === null) return 'absent'
  // Millions of rows would take long to compare with each other.
  if (Array.isArray(rows) && rows.length > PAGE_SIZE && rows.length > sizeAskedFor(call)) return undefined
  return Array.isArray(rows) && rows.every((one) => isObject(one) && isAnswer(one)) && !isAnyTwice(rows) ? rows : undefined
}

/** True if a row is there twice. The engine leaves such a page to the parser. */
export function isAnyTwice(rows: readonly JsonObject[]): boolean {
  const uids = uidsIn({ rows })
  return new Set(uids).size < uids.length
}

const COUNT = /^\d{1,19}$/

/** Returns a count that is no text of digits: a number (facts §16.5), or none. Returns null if it is neither. */
function totalIn(total: unknown): string | undefined | null {
  if (total === undefined || total === null) return undefined
  return typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 ? String(total) : null
}

/**
 * Returns the ids that distinguish the rows of a page; for rows as text, those of the first and the last.
 * Rows of the advisory feed have an `id` instead of a uid (facts §7); some rows have neither.
 */
function uidsIn({ rows }: Pick<Page, 'rows'>): readonly string[] {
  if (isRowText(rows)) return rows.count > 1 ? [rows.first, rows.last] : rows.count === 1 ? [rows.first] : []
  return rows.map(({ uid, id }) => asText(uid ?? id ?? '')).filter((uid) => uid !== '')
}

/** The first and the last of the uids of a page. */
function ends(uids: readonly string[]): readonly string[] {
  return uids.length > 1 ? [uids[0] ?? '', uids.at(-1) ?? ''] : uids
}

/**
 * Returns a test for pages behind the cursor of the page `last`: true if the listing began anew. It did if a cursor, a row of the first
 * page, or an end of a further page repeats, or if the count of skipped rows changes. In uid order, it also did if a page begins before the last row seen. A service
 * may count only the request's own skip (specification §2), which is 0 behind a cursor and proves nothing. Rows without ids are checked by
 * the cursor alone.
 */
function restartDetector(order: string, first: Page, last: Page): (page: Page) => boolean {
  const tokens = new Set([first.nextPageToken, last.nextPageToken])
  const seen = new Set([...uidsIn(first), ...ends(uidsIn(last))])
  let keepsSkipped = false
  let lastUid = uidsIn(last).at(-1) ?? ''
  return (page) => {
    const uids = uidsIn(page)
    if (tokens.has(page.nextPageToken) && page.nextPageToken !== '') return true
    tokens.add(page.nextPageToken)
    if (uids.some((uid) => seen.has(uid))) return true
    for (const uid of ends(uids)) seen.add(uid)
    if (page.skipped !== last.skipped && (keepsSkipped || page.skipped !== 0)) return true
    keepsSkipped ||= page.skipped === last.skipped
    const backwards = order === 'uid' && lastUid !== '' && uids[0] !== undefined && uids[0] <= lastUid
    lastUid = uids.at(-1) ?? lastUid
    return backwards
  }
}

/** The rows that each window adds: all but the first, which it shares with the window before. */
const STEP = PAGE_SIZE - 1

/** The windows of a million rows; the cursor reads what is behind them. A wrong count could ask for more than memory holds. */
const MOST_WINDOWS = 5000

/** The progress of the windows. */
interface Verified {
  /** The last page whose place in the list is proven; its cursor continues. */
  readonly last: Page
  /** Rows read by windows. */
  readonly rows: number
}

/**
 * Returns the windows behind the first page of a list; each begins with the last row of the one before. There are none if a cursor needs
 * as many calls. Windows need a count of the rows and the unique order by uid. In other orders, rows may change places between two calls.
 */
export function windowsBehind(listing: Listing, window: Window, first: Page): readonly Call[] {
  if (countOf(first.rows) < PAGE_SIZE || listing.order !== 'uid' || window.token !== undefined) return []
  const total = Number(first.totalCount)
  const begin = window.skip + countOf(first.rows)
  const end = Math.min(total, window.skip + (window.take ?? total))
  if (!Number.isSafeInteger(total) || end - begin <= PAGE_SIZE || !isAscending(uidsIn(first))) return []
  const windows = Math.min(MOST_WINDOWS, Math.ceil((end - begin) / STEP))
  return Array.from({ length: windows }, (_, at) => {
    const skip = begin - 1 + at * STEP
    const size = window.take === undefined ? PAGE_SIZE : Math.min(PAGE_SIZE, end - skip)
    return furtherPage(listing, size, [['skip', String(skip)]])
  })
}

/**
 * Visits the rows of the windows in order, as long as each window begins with the last row of the one before. Each holds, at its own
 * moment, every row between its first and its last. So no row that existed throughout is missed, and none is repeated (design §4). If a
 * row was added or deleted before a window, its first row differs, and the cursor reads the rest.
 */
function* readWindows(listing: Listing, windows: readonly Call[], first: Page, visit: Visit): Plan<Verified> {
  let last = first
  let rows = 0
  for (const [at, call] of windows.entries()) {
    const page = yield* askPage(listing, call, at === 0 ? windows.slice(1) : undefined)
    const uids = uidsIn(page)
    if (uids[0] !== uidsIn(last).at(-1) || !isAscending(uids) || !areTold(page, uids)) break
    const further = visit(behindFirst(page.rows))
    if (further) yield* further
    rows += countOf(page.rows) - 1
    last = page
    if (page.nextPageToken === '') break
  }
  return { last, rows }
}

/** True if every row has a uid; rows as text always do. */
function areTold({ rows }: Page, uids: readonly string[]): boolean {
  return isRowText(rows) || uids.length === rows.length
}

function isAscending(uids: readonly string[]): boolean {
  return uids.every((uid, at) => at === 0 || (uids[at - 1] ?? '') < uid)
}

/** The facts about a list that v1 may show beside its rows. */
export interface Walked {
  /** The page token after the last row; empty at the end. */
  readonly nextPageToken: string
  readonly totalCount: string | undefined
  readonly skipped: number
  /** The first row, or its uid alone. */
  readonly first: JsonObject | undefined
}

type VisitObjects = (rows: readonly JsonObject[]) => ReturnType<Visit>

/**
 * Reads a v2 list and visits every page of the window in order: the first page, then windows read in parallel as far as they prove the
 * list whole, then the rest by cursor. A list that would be doubled or incomplete is an ABORTED error.
 */
export function eachPage(listing: Unread, window: Window, visit: VisitObjects): Plan<Walked>
export function eachPage(listing: Listing, window: Window, visit: Visit): Plan<Walked>
export function* eachPage(listing: Listing, window: Window, visit: Visit | VisitObjects): Plan<Walked> {
  const call = firstCall(listing, window)
  return yield* walkOn(listing, window, pageIn(listing, call, yield* ask(call, LOOKED_AT)), visit as Visit)
}

/** Returns the call for the first page of a window. */
export function firstCall(listing: Listing, { skip, take, token = '' }: Window): Call {
  return pageCall(listing, Math.min(PAGE_SIZE, take ?? PAGE_SIZE), positionOf(token, skip))
}

/** Returns the facts about a window that its first page holds whole; undefined if there is more to read. */
export function wholeIn(listing: Listing, window: Window, first: Page): Walked | undefined {
  if (first.isMiscounted) return undefined
  const { take } = window
  const isAll =
    first.nextPageToken === '' && !isShort(window, first, countOf(first.rows)) && windowsBehind(listing, window, first).length === 0
  return isAll || (take !== undefined && countOf(first.rows) >= take) ? walkedOf(first, first.nextPageToken) : undefined
}

/** Visits the page that `firstCall` showed and reads what follows it. */
export function* walkOn(listing: Listing, window: Window, shown: Page, visit: Visit): Plan<Walked> {
  const first = yield* counted(listing, firstCall(listing, window), shown)
  const further = visit(first.rows)
  if (further) yield* further
  const windows = windowsBehind(listing, window, first)
  const { last, rows } = windows.length > 0 ? yield* readWindows(listing, windows, first, visit) : { last: first, rows: 0 }
  const seen = countOf(first.rows) + rows
  const ahead = windows.length > 0 ? [] : undefined
  const ended = yield* followCursor(listing, window, { first, last, seen, ahead }, visit)
  if (isShort(window, ended.last, ended.seen)) {
    yield* readBehind(listing, { end: window.skip + ended.seen, lastUid: ended.lastUid, counted: Number(first.totalCount ?? 0), ahead })
  }
  return walkedOf(first, ended.last.nextPageToken)
}

/** True if v2 ended the list before as many rows as it counts. Behind a client's own token, nobody knows how many came before. */
function isShort({ skip, take, token }: Window, { nextPageToken, totalCount }: Page, seen: number): boolean {
  return token === undefined && nextPageToken === '' && Number(totalCount ?? 0) > skip + seen && seen < (take ?? Number.POSITIVE_INFINITY)
}

/** The end of a list that is shorter than v2 counts. */
interface ShortEnd {
  /** The number of rows before it. */
  readonly end: number
  readonly lastUid: string
  /** The number of rows that v2 counted at first. */
  readonly counted: number
  readonly ahead: Rest['ahead']
}

/**
 * Asks for the rows that v2 counts behind the end of a list. If it counts none by now, the list is whole. Rows that were added before the
 * end while the list was read moved its last rows there: v2 shows as many as it counts, up to the last row. Without a change of its count,
 * none of the rows that it counted at first may be missing. Everything else is ABORTED: v2 does not show what it counts.
 */
function* readBehind(listing: Listing, { end, lastUid, counted, ahead }: ShortEnd): Plan<void> {
  const page = yield* askPage(listing, furtherPage(listing, PAGE_SIZE, positionOf('', end)), ahead)
  const total = Number(page.totalCount ?? Number.NaN)
  const isLast = page.nextPageToken === '' && total - countOf(page.rows) <= end
  const isMoved = (end >= counted || total !== counted) && lastUid !== '' && uidsIn(page).at(-1) === lastUid
  if (!isLast || (countOf(page.rows) > 0 && !isMoved))
    throw new ApiError('ABORTED', 'the list is longer than the rows that the v2 service showed; ask again')
}

function walkedOf({ rows, totalCount, skipped }: Page, nextPageToken: string): Walked {
  return { nextPageToken, totalCount, skipped, first: isRowText(rows) ? { uid: rows.first } : rows[0] }
}

/** The start of a cursor: behind the page `last`, where `seen` rows of the window were read. */
interface Rest {
  readonly first: Page
  readonly last: Page
  readonly seen: number
  /** Cancels the windows that were announced. */
  readonly ahead: readonly Call[] | undefined
}

/** The end of a walk: its last page, the last uid, and the number of rows. */
interface Ended {
  readonly last: Page
  readonly lastUid: string
  readonly seen: number
}

/**
 * Visits the rest of a list by its cursor. v2 silently restarts a listing when its page token has expired (specification §8). Each page is
 * therefore compared with the rows seen before.
 */
function* followCursor(listing: Listing, { take = Number.POSITIVE_INFINITY }: Window, rest: Rest, visit: Visit): Plan<Ended> {
  const restarted = restartDetector(listing.order, rest.first, rest.last)
  let { last, seen } = rest
  let lastUid = uidsIn(last).at(-1) ?? ''
  while (last.nextPageToken !== '' && take > seen) {
    const call = furtherPage(listing, Math.min(PAGE_SIZE, take - seen), positionOf(last.nextPageToken, 0))
    const page = yield* askPage(listing, call, rest.ahead)
    if (restarted(page)) throw new ApiError('ABORTED', 'the list started over while it was read; ask again')
    const further = visit(page.rows)
    if (further) yield* further
    seen += countOf(page.rows)
    lastUid = uidsIn(page).at(-1) ?? lastUid
    last = { ...page, totalCount: page.totalCount ?? last.totalCount }
  }
  return { last, lastUid, seen }
}

function positionOf(token: string, skip: number): Call['query'] {
  return [...(token === '' ? [] : [['page_token', token] as const]), ...(skip > 0 ? [['skip', String(skip)] as const] : [])]
}
