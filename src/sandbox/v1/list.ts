import { visible } from '../auth/rights/authorize.ts'
import { type Query, readQuery } from '../http/query.ts'
import type { Ask } from '../http/route.ts'
import { equals, type Filter, readUidp, selectRows, type Uidp } from '../lists/filter.ts'
import { type Order, type Sortable, sortRows } from '../lists/order.ts'
import { actOf } from '../v2/reads.ts'
import type { Resource } from '../v2/resource.ts'
import type { Row } from '../world/model.ts'
import type { World } from '../world/world.ts'
import { encodeResource } from './encode.ts'
import type { V1Message } from './message.ts'
import type { Operation } from './operation.ts'
import { readOrder, sortable, UID_ASCENDING } from './order.ts'
import { readWindow } from './window.ts'

/** The members that v1 shows inline and v2 does not, added to a stored row before it is encoded. */
export type ListView<R extends Row> = (row: R, world: World) => Readonly<Record<string, unknown>>

/** A list that returns the full set (facts §10). */
export type List<R extends Row> = {
  readonly resource: Resource<R>
  readonly path: string
  readonly message: V1Message
  /** The parameter that selects one row: v1's only way to read one (facts §11). */
  readonly idParameter?: string
  /** Accepts the `uidp.*` filters. */
  readonly scoped: boolean
  /** Additional filters. */
  readonly filters?: (query: Query) => readonly Filter<R>[]
  /** By uid by default. */
  readonly order?: Order
  readonly view?: ListView<R>
}

const noScope: Uidp = readUidp(readQuery([]))

/** The exact-match `name` filter of most lists (facts §10.5). */
export const byName = <R extends Row & { readonly name: string }>(query: Query): readonly Filter<R>[] =>
  equals<R>(query, 'name', ({ name }) => name)

/**
 * Sorts the rows, which come in uid order, and cuts them to the window of the request. Throws code 3. `column` reads the column of a
 * default order that v1 cannot request.
 */
export function arrange<R extends Row>(rows: readonly R[], query: Query, order = UID_ASCENDING, column: Sortable<R> = {}): readonly R[] {
  const { from, to } = readWindow(query)
  return sortRows(rows, readOrder(query, order), { ...column, ...sortable }).slice(from, to)
}

/** The rows that pass the list's filters and are visible to the caller. */
function select<R extends Row>({ resource, idParameter, scoped, filters }: List<R>, ask: Ask, world: World): readonly R[] {
  const { query } = ask
  const act = actOf(ask, world)
  const byId = idParameter === undefined ? [] : equals<R>(query, idParameter, ({ uid }) => uid)
  const rows = selectRows(resource.table(world.store), scoped ? readUidp(query) : noScope, [...byId, ...(filters?.(query) ?? [])])
  const inReach = resource.visible?.(act) ?? visible(world, act.caller, resource.capabilities.list)
  return rows.filter(({ uid }) => inReach(uid))
}

/** `GET <path>`: every visible row, filtered, in order, cut to the window. */
export const listOperation = <R extends Row>(list: List<R>): Operation => ({
  method: 'GET',
  template: list.path,
  answer: (ask, world) => {
    const shown = arrange(select(list, ask, world), ask.query, list.order)
    return { items: shown.map((row) => encodeResource(list.view?.(row, world) ?? row, list.message, world.options.v1Dialect)) }
  },
})
