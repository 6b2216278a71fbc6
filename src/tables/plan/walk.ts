import { ApiError } from '../../errors/api-error.ts'
import type { JsonObject } from '../json.ts'
import { isRowText } from '../text/row-text.ts'
import { askPage, furtherPage, type Listing, PAGE_SIZE, type Page, pageCall, pageIn, sizeOf, type Unread, type Visit } from './page.ts'
import type { Call, Plan } from './plan.ts'
import { restartDetector } from './restart.ts'
import type { Window } from './window.ts'
import { readWindows, windowsBehind } from './windows.ts'

/** What v1 may want to know of a list beside its rows. */
export interface Walked {
  /** The page token behind the last row; empty at the end. */
  readonly nextPageToken: string
  readonly totalCount: string | undefined
  readonly skipped: number
  /** The first row, or its uid alone. */
  readonly first: JsonObject | undefined
}

type VisitObjects = (rows: readonly JsonObject[]) => ReturnType<Visit>

/**
 * Reads a v2 list and visits every page of the window in order: the first page, then as much as can be proven whole by windows that are
 * read side by side, then the rest by cursor. A list that would come out doubled or short is an ABORTED error instead.
 */
export function eachPage(listing: Unread, window: Window, visit: VisitObjects): Plan<Walked>
export function eachPage(listing: Listing, window: Window, visit: Visit): Plan<Walked>
export function* eachPage(listing: Listing, window: Window, visit: Visit | VisitObjects): Plan<Walked> {
  return yield* walk(listing, window, visit as Visit)
}

function* walk(listing: Listing, window: Window, visit: Visit): Plan<Walked> {
  const token = window.token ?? ''
  const size = Math.min(PAGE_SIZE, window.take ?? PAGE_SIZE)
  const first = yield* askPage(listing, pageCall(listing, size, positionOf(token, window.skip)))
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

/** The call that a window of no more than a page begins with, and what is in its answer; undefined when there is more to read. */
export function firstPage(listing: Listing, { skip, take, token = '' }: Window) {
  if (take === undefined || take > PAGE_SIZE) return undefined
  const call = pageCall(listing, take, positionOf(token, skip))
  return {
    call,
    pageIn(body: JsonObject): { readonly rows: Page['rows']; readonly walked: Walked } | undefined {
      const page = pageIn(listing, call, body)
      const { rows, nextPageToken } = page
      return nextPageToken === '' || sizeOf(page) >= take ? { rows, walked: walkedOf(page, nextPageToken) } : undefined
    },
  }
}

/** Where a cursor begins: behind the page `last`, with `left` rows still wanted. */
interface Rest {
  readonly first: Page
  readonly last: Page
  readonly left: number
  /** Takes back the windows that were to come. */
  readonly ahead: readonly Call[] | undefined
}

/**
 * Visits the rest of a list by its cursor; returns the page token behind it. v2 restarts a listing silently when its page token has
 * expired (specification §8), so each page is checked against what was seen.
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
