import { behindFirst, isRowText } from '../text/row-text.ts'
import { askPage, furtherPage, type Listing, PAGE_SIZE, type Page, sizeOf, uidsIn, type Visit } from './page.ts'
import type { Call, Plan } from './plan.ts'
import type { Window } from './window.ts'

/** The rows that each window adds: all but the first, which it shares with the window before. */
const STEP = PAGE_SIZE - 1

/** The progress of the windows. */
export interface Verified {
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
 * Visits the rows of the windows in order, as long as each window begins with the last row of the one before. Each holds, at its own
 * moment, every row between its first and its last. So no row that existed throughout is missed, and none is repeated (design §4). If a
 * row was added or deleted before a window, its first row differs, and the cursor reads the rest.
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

/** True if every row has a uid; rows as text always do. */
function areTold({ rows }: Page, uids: readonly string[]): boolean {
  return isRowText(rows) || uids.length === rows.length
}

function isAscending(uids: readonly string[]): boolean {
  return uids.every((uid, at) => at === 0 || (uids[at - 1] ?? '') < uid)
}
