import { behindFirst, isRowText } from '../text/row-text.ts'
import { askPage, furtherPage, type Listing, PAGE_SIZE, type Page, sizeOf, uidsIn, type Visit } from './page.ts'
import type { Call, Plan } from './plan.ts'
import type { Window } from './window.ts'

/** Rows that each window adds: all but the first, which it shares with the window before. */
const STEP = PAGE_SIZE - 1

/** Where the windows got to. */
export interface Verified {
  /** The last page whose place in the list is proven; its cursor leads on. */
  readonly last: Page
  /** Rows read by windows. */
  readonly rows: number
}

/**
 * The windows that read the rest of a list behind its first page, each beginning with the last row of the one before; none when a cursor
 * does as well. They need a count of the rows, and the unique order by uid: rows of another order may change places between two calls.
 */
export function windowsBehind(listing: Listing, window: Window, first: Page): readonly Call[] {
  if (sizeOf(first) < PAGE_SIZE || listing.order !== 'uid' || window.token !== undefined) return []
  const total = Number(first.totalCount)
  const begin = window.skip + sizeOf(first)
  const end = Math.min(total, window.skip + (window.take ?? total))
  if (!Number.isSafeInteger(total) || end - begin <= PAGE_SIZE || !isAscending(uidsIn(first))) return []
  const windows = Math.ceil((end - begin) / STEP)
  return Array.from({ length: windows }, (_, at) => {
    const skip = begin - 1 + at * STEP
    const size = window.take === undefined ? PAGE_SIZE : Math.min(PAGE_SIZE, end - skip)
    return furtherPage(listing, size, [['skip', String(skip)]])
  })
}

/**
 * Visits the rows of the windows in order, as long as each begins with the row that the one before ended with: each holds, as of its own
 * moment, every row between its first and its last, so that no row that was there all the time is missed, and none comes twice (design §4).
 * Where a row was added or deleted before a window, its first row is another one, and the rest is left to the cursor.
 */
export function* readWindows(listing: Listing, windows: readonly Call[], first: Page, visit: Visit): Plan<Verified> {
  let last = first
  let rows = 0
  for (const [at, call] of windows.entries()) {
    const page = yield* askPage(listing, call, at === 0 ? windows.slice(1) : undefined)
    const uids = uidsIn(page)
    if (uids[0] !== uidsIn(last).at(-1) || !isAscending(uids) || !areTold(page, uids)) break
    const further = visit(behindFirst(page.rows))
    if (further) yield* further
    rows += sizeOf(page) - 1
    last = page
    if (page.nextPageToken === '') break
  }
  return { last, rows }
}

/** Whether every row has a uid; rows that are text do. */
function areTold({ rows }: Page, uids: readonly string[]): boolean {
  return isRowText(rows) || uids.length === rows.length
}

function isAscending(uids: readonly string[]): boolean {
  return uids.every((uid, at) => at === 0 || (uids[at - 1] ?? '') < uid)
}
