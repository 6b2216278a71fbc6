import { ApiError } from '../../errors/api-error.ts'
import type { JsonObject } from '../json.ts'
import { isRowText } from '../text/row-text.ts'
import { askPage, furtherPage, type Listing, PAGE_SIZE, type Page, pageCall, sizeOf, type Unread, type Visit } from './page.ts'
import type { Call, Plan } from './plan.ts'
import { restartDetector } from './restart.ts'
import type { Window } from './window.ts'
import { readWindows, windowsBehind } from './windows.ts'

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
  return yield* walk(listing, window, visit as Visit)
}

function* walk(listing: Listing, window: Window, visit: Visit): Plan<Walked> {
  return yield* walkOn(listing, window, yield* askPage(listing, firstCall(listing, window)), visit)
}

/** Returns the call for the first page of a window. */
export function firstCall(listing: Listing, { skip, take, token = '' }: Window): Call {
  return pageCall(listing, Math.min(PAGE_SIZE, take ?? PAGE_SIZE), positionOf(token, skip))
}

/** Returns the facts about a window that its first page holds whole; undefined if there is more to read. */
export function wholeIn(listing: Listing, window: Window, first: Page): Walked | undefined {
  const { take } = window
  const isAll = first.nextPageToken === '' && windowsBehind(listing, window, first).length === 0
  return isAll || (take !== undefined && sizeOf(first) >= take) ? walkedOf(first, first.nextPageToken) : undefined
}

/** Visits the first page of a window and reads what follows it. */
export function* walkOn(listing: Listing, window: Window, first: Page, visit: Visit): Plan<Walked> {
  const further = visit(first.rows)
  if (further) yield* further
  const windows = windowsBehind(listing, window, first)
  const { last, rows } = windows.length > 0 ? yield* readWindows(listing, windows, first, visit) : { last: first, rows: 0 }
  const left = (window.take ?? Number.POSITIVE_INFINITY) - sizeOf(first) - rows
  const nextPageToken = yield* followCursor(listing, { first, last, left, ahead: windows.length > 0 ? [] : undefined }, visit)
  return walkedOf(first, nextPageToken)
}

function walkedOf({ rows, totalCount, skipped }: Page, nextPageToken: string): Walked {
  return { nextPageToken, totalCount, skipped, first: isRowText(rows) ? { uid: rows.first } : rows[0] }
}

/** The start of a cursor: behind the page `last`, with `left` rows still wanted. */
interface Rest {
  readonly first: Page
  readonly last: Page
  readonly left: number
  /** Cancels the windows that were announced. */
  readonly ahead: readonly Call[] | undefined
}

/**
 * Visits the rest of a list by its cursor; returns the page token after it. v2 silently restarts a listing when its page token has expired
 * (specification §8). Each page is therefore compared with the rows seen before.
 */
function* followCursor(listing: Listing, { first, last, left, ahead }: Rest, visit: Visit): Plan<string> {
  const restarted = restartDetector(listing.order, first, last)
  let token = last.nextPageToken
  let rest = left
  while (token !== '' && rest > 0) {
    const page = yield* askPage(listing, furtherPage(listing, Math.min(PAGE_SIZE, rest), positionOf(token, 0)), ahead)
    if (restarted(page)) throw new ApiError('ABORTED', 'the list started over while it was read; ask again')
    const further = visit(page.rows)
    if (further) yield* further
    rest -= sizeOf(page)
    token = page.nextPageToken
  }
  return token
}

function positionOf(token: string, skip: number): Call['query'] {
  return [...(token === '' ? [] : [['page_token', token] as const]), ...(skip > 0 ? [['skip', String(skip)] as const] : [])]
}
