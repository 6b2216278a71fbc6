import { ApiError } from '../errors/api-error.ts'
import { isObject, type JsonObject } from './json.ts'
import { ask, type Call, type Plan } from './plan.ts'
import type { Window } from './window.ts'

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

/** What is done with each page's rows; a visit that sends rows on or makes calls is a plan. */
export type Visit = (rows: readonly JsonObject[]) => Plan<void> | undefined

/**
 * Walks a v2 list by its cursor and visits every page of the window in order. `skip` goes with the first page only. A walk that would
 * come out doubled or short is an ABORTED error instead: v2 restarts a listing silently when its page token has expired (specification §8).
 */
export function* eachPage(listing: Listing, window: Window, visit: Visit): Plan<Walked> {
  const restarted = restartDetector(listing.order)
  let token = window.token ?? ''
  let skip = window.skip
  let start: Page | undefined
  let left = window.take ?? Number.POSITIVE_INFINITY
  do {
    const size = Math.min(PAGE_SIZE, left)
    const page = yield* readPage(listing, size, positionOf(token, skip))
    start ??= page
    skip = 0
    if (restarted(page)) throw new ApiError('ABORTED', 'the list started over while it was read; ask again')
    const further = visit(page.rows)
    if (further) yield* further
    left -= page.rows.length
    token = page.nextPageToken
  } while (token !== '' && left > 0)
  return { nextPageToken: token, totalCount: start.totalCount, skipped: start.skipped, first: start.rows[0] }
}

/** What v1 may want to know of a list beside its rows. */
export interface Walked {
  /** The page token behind the last row; empty at the end. */
  readonly nextPageToken: string
  readonly totalCount: string | undefined
  readonly skipped: number
  readonly first: JsonObject | undefined
}

function positionOf(token: string, skip: number): Call['query'] {
  return [...(token === '' ? [] : [['page_token', token] as const]), ...(skip > 0 ? [['skip', String(skip)] as const] : [])]
}

/** Reads one page. */
export function* readPage(listing: Listing, size: number, position: Call['query']): Plan<Page> {
  const query = [...listing.query, ['page_size', String(size)] as const, ...position]
  const body = yield* ask({ method: 'GET', path: listing.path, query })
  const rows = body[listing.plural]
  return {
    rows: Array.isArray(rows) ? rows.filter(isObject) : [],
    nextPageToken: typeof body.nextPageToken === 'string' ? body.nextPageToken : '',
    totalCount: typeof body.totalCount === 'string' ? body.totalCount : undefined,
    skipped: typeof body.skipped === 'number' ? body.skipped : 0,
  }
}

/**
 * Tells whether a page belongs to a listing that began anew: its cursor was seen before, it repeats a row of the first page, its count
 * of skipped rows changed, or (in uid order) it begins before the last row seen. A service may also count only the request's own skip
 * (specification §2), which is 0 behind a cursor; that alone says nothing. Rows of the advisory feed have an `id` instead of a uid
 * (facts §7); rows with neither are watched by the cursor alone.
 */
function restartDetector(order: string): (page: Page) => boolean {
  const tokens = new Set<string>()
  let first: Set<string> | undefined
  let skipped = 0
  let keepsSkipped = false
  let last = ''
  return ({ rows, nextPageToken, skipped: nowSkipped }) => {
    const uids = rows.map(({ uid, id }) => String(uid ?? id ?? '')).filter((uid) => uid !== '')
    const repeatedToken = nextPageToken !== '' && tokens.has(nextPageToken)
    tokens.add(nextPageToken)
    if (!first) {
      first = new Set(uids)
      skipped = nowSkipped
    } else {
      if (repeatedToken || uids.some((uid) => first?.has(uid))) return true
      if (nowSkipped !== skipped && (keepsSkipped || nowSkipped !== 0)) return true
      keepsSkipped ||= nowSkipped === skipped
    }
    const backwards = order === 'uid' && last !== '' && uids[0] !== undefined && uids[0] <= last
    last = uids.at(-1) ?? last
    return backwards
  }
}
