import { hasCapability, requireCapability, visible } from '../auth/rights/authorize.ts'
import { type Ask, callerOf, ok, type Route } from '../http/route.ts'
import { filterKey, readUidp, scopeOf, selectRows } from '../lists/filter.ts'
import { type Order, SORTABLE, sortRows } from '../lists/order.ts'
import { pageOf, readPaging } from '../lists/paging.ts'
import { render } from '../messages/render.ts'
import { invalidField, notFound } from '../status.ts'
import type { Row } from '../world/model.ts'
import { validUid } from '../world/uid.ts'
import type { World } from '../world/world.ts'
import type { Act, Resource, View } from './resource.ts'

const UID_ASCENDING: Order = { name: 'uid', descending: false }

/** The part of a request that hooks see. */
export const actOf = (ask: Ask, world: World): Act => ({ world, caller: callerOf(ask), query: ask.query })

/** The path variable `name`. INVALID_ARGUMENT unless it has the form of a uid (semantics §1). */
export const uidParam = (ask: Ask, name = 'uid'): string => {
  const uid = ask.params[name] ?? ''
  return validUid(uid) ? uid : invalidField(name, `${JSON.stringify(uid)} is not a valid uid`)
}

/** The row of `uid`, or NOT_FOUND. */
export const existing = <R extends Row>(resource: Resource<R>, world: World, uid: string): R =>
  resource.table(world.store).get(uid) ?? notFound(resource.type, uid)

/** The row of `uid` for a caller who may read it. PERMISSION_DENIED precedes NOT_FOUND. */
export const readableRow = <R extends Row>(resource: Resource<R>, act: Act, uid: string): R => {
  if (resource.readable) resource.readable(act, uid)
  else requireCapability(act.world, act.caller, resource.capabilities.list, uid)
  return existing(resource, act.world, uid)
}

/** The v2 JSON of a row for one kind of answer. */
export const present = <R extends Row>(resource: Resource<R>, world: World, row: R, view: View) =>
  render(resource.message, resource.view?.(row, world, view) ?? row)

/** `GET <path>`: filters, visibility, order, one page. */
export const listRoute = <R extends Row>(resource: Resource<R>): Route => ({
  method: 'GET',
  template: resource.path,
  auth: 'required',
  handle: (ask, world) => {
    const sortable = { ...SORTABLE, ...resource.sortable }
    const uidp = readUidp(ask.query)
    const filters = resource.filters?.(ask.query) ?? []
    const key = filterKey(uidp, filters)
    const paging = readPaging(ask.query, world, { sortable, order: resource.order ?? UID_ASCENDING, filterKey: key })
    const table = resource.table(world.store)
    const sorted = table.derived(`sorted ${paging.order.name} ${paging.order.descending} ${key}`, () =>
      sortRows(selectRows(table, uidp, filters), paging.order, sortable),
    )
    const rows = seenBy(resource, actOf(ask, world), sorted, scopeOf(uidp))
    const { rows: page, ...envelope } = pageOf(world, rows, paging, sortable)
    return ok({ [resource.plural]: page.map((row) => present(resource, world, row, 'list')), ...envelope })
  },
})

/** A caller who may see a scope may see everything below it. So a list below one readable parent is not checked row by row. */
const seenBy = <R extends Row>(resource: Resource<R>, act: Act, rows: readonly R[], scope: string): readonly R[] => {
  if (scope !== '' && hasCapability(act.world, act.caller, resource.capabilities.list, scope)) return rows
  const inReach = resource.visible?.(act) ?? visible(act.world, act.caller, resource.capabilities.list)
  return rows.filter(({ uid }) => inReach(uid))
}

/** `GET <path>/{uid}`. */
export const getRoute = <R extends Row>(resource: Resource<R>): Route => ({
  method: 'GET',
  template: `${resource.path}/{uid=**}`,
  auth: 'required',
  handle: (ask, world) => {
    const row = readableRow(resource, actOf(ask, world), uidParam(ask))
    return ok(present(resource, world, row, 'get'))
  },
})
