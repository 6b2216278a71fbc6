import { createHash } from 'node:crypto'
import type { Query } from '../http/query.ts'
import { invalidArgument, invalidField } from '../status.ts'
import type { Row } from '../world/model.ts'
import type { World } from '../world/world.ts'
import { comparePositions, type Order, type Position, parseOrder, type Sortable } from './order.ts'
import { readToken, writeToken } from './page-token.ts'

/** Page sizes and the lifetime of a page token (specification §8). */
const DEFAULT_PAGE_SIZE = 50
const MAX_PAGE_SIZE = 200
const TOKEN_LIFETIME_MS = 3 * 24 * 60 * 60 * 1000

/** The paging parameters of one list request. */
export type Paging = {
  readonly size: number
  readonly order: Order
  readonly skip: number
  /** The end of the previous page; undefined on the first page. */
  readonly after: Position | undefined
  /** Rows skipped by the requests before this one. */
  readonly skippedBefore: number
  /** Binds the new token to the filters of the list. */
  readonly filterHash: string
}

/** One page. `nextPageToken` is absent on the last one. */
export type Page<R> = {
  readonly rows: readonly R[]
  readonly totalCount: string
  readonly skipped: number
  readonly nextPageToken?: string
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16)

const refuseNegatives = (query: Query): void => {
  const negative = ['page_size', 'skip'].filter((field) => query.integer(field) < 0)
  if (negative.length > 0) invalidArgument(negative.map((field) => ({ field, description: 'must be non-negative' })))
}

/**
 * Reads page_size, page_token, order_by and skip. A token older than three days, or from another order_by, restarts the list without an
 * error. A forged token, or one from other filters, is INVALID_ARGUMENT (specification §8, semantics §5).
 */
export const readPaging = <R>(query: Query, world: World, list: { sortable: Sortable<R>; order: Order; filterKey: string }): Paging => {
  refuseNegatives(query)
  const filterHash = hash(list.filterKey)
  const asked = query.text('order_by') === '' ? undefined : parseOrder(query.text('order_by'), list.sortable)
  const token = query.text('page_token') === '' ? undefined : readToken(query.text('page_token'), world.pageKey)
  if (token && token.filterHash !== filterHash) invalidField('page_token', 'was made for a listing with other filters')
  const order = asked ?? token?.order ?? list.order
  const fresh = token !== undefined && world.clock.now().getTime() - token.issuedAt < TOKEN_LIFETIME_MS && sameOrder(token.order, order)
  return {
    size: Math.min(query.integer('page_size') || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
    order,
    skip: query.integer('skip'),
    after: fresh ? token.after : undefined,
    skippedBefore: fresh ? token.skipped : 0,
    filterHash,
  }
}

const sameOrder = (left: Order, right: Order): boolean => left.name === right.name && left.descending === right.descending

/** The index of the first row behind `after`. It is a keyset cursor: rows added or removed between pages shift nothing. */
const startOf = <R extends Row>(rows: readonly R[], paging: Paging, read: (row: R) => string): number => {
  const { after } = paging
  if (!after) return 0
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]!
    if (comparePositions(paging.order, { value: read(row), uid: row.uid }, after) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Cuts one page out of `rows`, the whole list in the requested order. */
export const pageOf = <R extends Row>(world: World, rows: readonly R[], paging: Paging, sortable: Sortable<R>): Page<R> => {
  const read = sortable[paging.order.name]!
  const start = startOf(rows, paging, read) + paging.skip
  const page = rows.slice(start, start + paging.size)
  const last = page.at(-1)
  const skipped = paging.skippedBefore + paging.skip
  // Looking one row ahead prevents an empty last page after exactly n full pages.
  const more = last !== undefined && start + paging.size < rows.length
  const nextPageToken = more ? writeNext(world, paging, { value: read(last), uid: last.uid }, skipped) : undefined
  return { rows: page, totalCount: String(rows.length), skipped, ...(nextPageToken === undefined ? {} : { nextPageToken }) }
}

const writeNext = (world: World, { order, filterHash }: Paging, after: Position, skipped: number): string =>
  writeToken({ issuedAt: world.clock.now().getTime(), order, after, skipped, filterHash }, world.pageKey)
