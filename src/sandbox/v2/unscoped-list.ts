import type { Ask } from '../http/route.ts'
import { type Order, SORTABLE, type Sortable, sortRows } from '../lists/order.ts'
import { type Page, pageOf, readPaging } from '../lists/paging.ts'
import type { Row } from '../world/model.ts'
import type { World } from '../world/world.ts'

/** A list whose rows belong to no group. It has no `uidp`, and a caller who may see one row may see them all. */
export type UnscopedList<R extends Row> = {
  /** Already filtered, uid ascending. */
  readonly rows: readonly R[]
  /** One string for all conditions on `rows`. Page tokens are bound to it. */
  readonly key: string
  readonly sortable?: Sortable<R>
  /** The default order. */
  readonly order: Order
}

/** One page of such a list by page_size, page_token, order_by and skip (specification §4 rule 2). */
export const unscopedPage = <R extends Row>({ query }: Pick<Ask, 'query'>, world: World, list: UnscopedList<R>): Page<R> => {
  const sortable = { ...SORTABLE, ...list.sortable }
  const paging = readPaging(query, world, { sortable, order: list.order, filterKey: list.key })
  return pageOf(world, sortRows(list.rows, paging.order, sortable), paging, sortable)
}
