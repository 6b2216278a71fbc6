import { hasCapability, type Needed, requireCapability, visible } from '../auth/rights.ts'
import type { Caller } from '../auth/sts.ts'
import { type Answer, type Ask, callerOf, emptyAnswer, ok, type Query, type Route } from '../http/route.ts'
import {
  equals,
  type Filter,
  filterKey,
  type Order,
  type Page,
  pageOf,
  readPaging,
  readUidp,
  SORTABLE,
  type Sortable,
  scopeOf,
  selectRows,
  sortRows,
} from '../lists.ts'
import { applyMask, maskOf, touches, violations } from '../messages/field-mask.ts'
import { type Draft, decode, fill, type Message, render, withoutOutput } from '../messages/message.ts'
import {
  type FieldViolation,
  failedPrecondition,
  invalidArgument,
  invalidField,
  notFound,
  type PreconditionViolation,
  type ResourceType,
} from '../status.ts'
import type { Row } from '../world/model.ts'
import { newUid, type Store, type Table, timestamp, validUid, type World } from '../world/store.ts'

/** The context of a hook beside the row. */
export type Act = {
  readonly world: World
  readonly caller: Caller
  readonly query: Query
}

/** A create. `parent` is the path variable and exists. */
export type CreateAct = Act & { readonly parent: string }

/** An update. `previous` is the stored row; `touches` tells whether the mask names a path in either spelling (`oidc.client_secret`). */
export type UpdateAct<R extends Row> = Act & { readonly previous: R; readonly touches: (path: string) => boolean }

/** The answer that a row is rendered for. Some members appear in one of them only. */
export type View = 'get' | 'list' | 'create' | 'update'

/**
 * One v2 resource as data; `routesOf` makes its endpoints. Only the first block is required: without hooks a resource has
 * the plain behaviour.
 */
export type Resource<R extends Row> = {
  /** `registry.Repo`: names the resource in errors. */
  readonly type: ResourceType
  readonly message: Message
  /** The collection, e.g. `/registry/v2/repos`. */
  readonly path: string
  /** The member of the list envelope, e.g. `repos`. */
  readonly plural: string
  readonly table: (store: Store) => Table<R>
  readonly capabilities: { readonly list: Needed; readonly create?: Needed; readonly update?: Needed; readonly delete?: Needed }
  /** The parent of new rows; a group by default. A missing parent is NOT_FOUND of this type. */
  readonly parent?: { readonly type: ResourceType; readonly table: (store: Store) => { readonly get: (uid: string) => Row | undefined } }

  /** Columns beside uid, created_at and updated_at. */
  readonly sortable?: Sortable<R>
  /** The default is `uid asc`. */
  readonly order?: Order
  /** The filters of List beside `uidp`. */
  readonly filters?: (query: Query) => readonly Filter<R>[]
  /** Replaces the visibility of a row in List and, with `readable`, in Get. Built-in roles use it. */
  readonly visible?: (act: Act) => (uid: string) => boolean
  /** Replaces the capability check of Get. */
  readonly readable?: (act: Act, uid: string) => void

  /** Violations that involve several fields. Called only if every single field is valid. Throws for anything but INVALID_ARGUMENT. */
  readonly checkCreate?: (row: R, act: CreateAct) => readonly FieldViolation[]
  readonly checkUpdate?: (row: R, act: UpdateAct<R>) => readonly FieldViolation[]
  /** The row to store. The filled draft already has uid, createTime and updateTime. */
  readonly prepare?: (row: R, act: CreateAct) => R
  /** The row to store after an update. */
  readonly revise?: (row: R, act: UpdateAct<R>) => R
  /** Runs after the row is stored. */
  readonly created?: (row: R, act: CreateAct) => void

  /** The reasons that block a delete. If there are any, it is FAILED_PRECONDITION. */
  readonly blockers?: (row: R, world: World) => readonly PreconditionViolation[]
  /** Deletes the dependents of the row. */
  readonly cascade?: (row: R, world: World) => void
  /** A delete of a missing row succeeds (role bindings and account associations, facts §14). */
  readonly deleteIsIdempotent?: true

  /** The members that the table does not hold: hydration. The result is rendered through `message`. */
  readonly view?: (row: R, world: World, view: View) => Draft
}

type RowIn<N extends keyof Store> = Store[N] extends Table<infer R extends Row> ? R : never

/** A resource whose collection has one name, in the path, in the envelope of a list and in the store. */
export const resourceOf = <N extends keyof Store>(
  type: ResourceType,
  plural: N,
  rest: Omit<Resource<RowIn<N>>, 'type' | 'path' | 'plural' | 'table'>,
): Resource<RowIn<N>> => ({
  ...{ type, plural, path: `/${type.slice(0, type.indexOf('.'))}/v2/${plural}` },
  table: (store) => store[plural] as unknown as Table<RowIn<N>>,
  ...rest,
})

const GROUP = { type: 'iam.Group', table: (store: Store) => store.groups } as const

/** The column and the exact-match filter of resources with a name. */
export const BY_NAME = {
  sortable: { name: ({ name }: { readonly name: string }) => name },
  filters: <R extends Row & { readonly name: string }>(query: Query): readonly Filter<R>[] => equals<R>(query, 'name', ({ name }) => name),
}

/** The part of a request that hooks see. */
export const actOf = (ask: Ask, world: World): Act => ({ world, caller: callerOf(ask), query: ask.query })

/** `uid`. INVALID_ARGUMENT on `field` unless it has the form of a uid (semantics §1). */
export const checkedUid = (field: string, uid: string): string =>
  validUid(uid) ? uid : invalidField(field, `${JSON.stringify(uid)} is not a valid uid`)

/** The path variable `name`, which must have the form of a uid. */
export const uidParam = (ask: Ask, name = 'uid'): string => checkedUid(name, ask.params[name] ?? '')

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

/** The answer of a List: filters, visibility, order, one page. */
const list = <R extends Row>(resource: Resource<R>, ask: Ask, world: World) => {
  const sortable = { ...SORTABLE, ...resource.sortable }
  const uidp = readUidp(ask.query)
  const filters = resource.filters?.(ask.query) ?? []
  // A page token of another collection may be sorted by a column that this one lacks.
  const key = `${resource.plural} ${filterKey(uidp, filters)}`
  const paging = readPaging(ask.query, world, { sortable, order: resource.order, filterKey: key })
  const table = resource.table(world.store)
  const sorted = table.derived(`sorted ${paging.order.name} ${paging.order.descending} ${key}`, () =>
    sortRows(selectRows(table, uidp, filters), paging.order, sortable),
  )
  const rows = seenBy(resource, actOf(ask, world), sorted, scopeOf(uidp))
  const { rows: page, ...envelope } = pageOf(world, rows, paging, sortable)
  return { [resource.plural]: page.map((row) => present(resource, world, row, 'list')), ...envelope }
}

/** A caller who may see a scope may see everything below it. So a list below one readable parent is not checked row by row. */
const seenBy = <R extends Row>(resource: Resource<R>, act: Act, rows: readonly R[], scope: string): readonly R[] => {
  if (scope !== '' && hasCapability(act.world, act.caller, resource.capabilities.list, scope)) return rows
  const inReach = resource.visible?.(act) ?? visible(act.world, act.caller, resource.capabilities.list)
  return rows.filter(({ uid }) => inReach(uid))
}

const refuse = (found: readonly FieldViolation[]): void => {
  if (found.length > 0) invalidArgument(found)
}

/** Checks and stores a new row below `act.parent`. The caller checks the capability. */
export const create = <R extends Row>(resource: Resource<R>, act: CreateAct, body: unknown): R => {
  const { world, parent } = act
  const draft = fill(resource.message, withoutOutput(resource.message, decode(resource.message, body)))
  refuse(violations(resource.message, draft))
  const now = timestamp(world.clock)
  const dates = Object.fromEntries(
    ['createTime', 'updateTime'].filter((name) => name in resource.message.fields).map((name) => [name, now]),
  )
  const row = { ...draft, ...dates, uid: newUid(world.random, parent) } as unknown as R
  refuse(resource.checkCreate?.(row, act) ?? [])
  const stored = resource.prepare?.(row, act) ?? row
  resource.table(world.store).put(stored)
  resource.created?.(stored, act)
  return stored
}

/** Applies a PATCH to the row of `uid`. An empty mask changes nothing, not even the update time. */
export const update = <R extends Row>(resource: Resource<R>, act: Act, uid: string, body: unknown): R => {
  const { world } = act
  const { message } = resource
  const mask = maskOf(message, act.query.text('update_mask'), body)
  const input = decode(message, body)
  const previous = existing(resource, world, uid)
  if (mask.length === 0) return previous
  const row = applyMask(message, previous, input, mask)
  const updating: UpdateAct<R> = { ...act, previous, touches: (path) => touches(mask, path) }
  // Members outside the mask are not checked, even if stored data breaks a rule (semantics §6).
  refuse(violations(message, row).filter(({ field }) => updating.touches(field)))
  refuse(resource.checkUpdate?.(row, updating) ?? [])
  const dated = 'updateTime' in message.fields ? { ...row, updateTime: timestamp(world.clock) } : row
  const stored = resource.revise?.(dated, updating) ?? dated
  resource.table(world.store).put(stored)
  return stored
}

/** Deletes a row and its dependents. FAILED_PRECONDITION if something blocks the delete (specification §7 rule 2). */
export const remove = <R extends Row>(resource: Resource<R>, act: Act, uid: string): void => {
  const table = resource.table(act.world.store)
  const row = table.get(uid)
  if (!row) {
    if (!resource.deleteIsIdempotent) notFound(resource.type, uid)
    return
  }
  const blockers = resource.blockers?.(row, act.world) ?? []
  if (blockers.length > 0) failedPrecondition(blockers)
  resource.cascade?.(row, act.world)
  table.delete(uid)
}

/** A create below `parent` for a caller who may do that. A missing parent is NOT_FOUND. */
export const createAct = <R extends Row>({ capabilities, parent: above = GROUP }: Resource<R>, act: Act, parent: string): CreateAct => {
  requireCapability(act.world, act.caller, capabilities.create ?? [], parent)
  if (!above.table(act.world.store).get(parent)) notFound(above.type, parent)
  return { ...act, parent }
}

/**
 * The endpoints of a resource: List, Get, and those of Create, Update and Delete for which it has a capability. `own` is a create of its
 * own.
 */
export const routesOf = <R extends Row>(resource: Resource<R>, own?: Route): readonly Route[] => {
  const { capabilities, path } = resource
  const one = `${path}/{uid=**}`
  /** The uid of a request whose caller may write that row. */
  const writable = (ask: Ask, world: World, needed: Needed): readonly [act: Act, uid: string] => {
    const [act, uid] = [actOf(ask, world), uidParam(ask)]
    requireCapability(world, act.caller, needed, uid)
    return [act, uid]
  }
  // The path holds the parent, the body the resource's members (specification §4 rule 1).
  const created: Route = {
    method: 'POST',
    template: `${path}/{parent=**}`,
    handle: (ask, world) => {
      const parent = uidParam(ask, 'parent')
      const row = create(resource, createAct(resource, actOf(ask, world), parent), ask.body)
      return ok(present(resource, world, row, 'create'))
    },
  }
  // Answers the whole resource (specification §4 rule 5).
  const updated = (needed: Needed): Route => ({
    method: 'PATCH',
    template: one,
    handle: (ask, world) => ok(present(resource, world, update(resource, ...writable(ask, world, needed), ask.body), 'update')),
  })
  // 200 with an empty body (specification §7 rule 4).
  const deleted = (needed: Needed): Route => ({
    method: 'DELETE',
    template: one,
    handle: (ask, world) => {
      remove(resource, ...writable(ask, world, needed))
      return emptyAnswer
    },
  })
  return [
    { method: 'GET', template: path, handle: (ask, world) => ok(list(resource, ask, world)) },
    {
      method: 'GET',
      template: one,
      handle: (ask, world) => ok(present(resource, world, readableRow(resource, actOf(ask, world), uidParam(ask)), 'get')),
    },
    ...(own ? [own] : capabilities.create ? [created] : []),
    ...(capabilities.update ? [updated(capabilities.update)] : []),
    ...(capabilities.delete ? [deleted(capabilities.delete)] : []),
  ]
}

/** A list whose rows belong to no group. It has no `uidp`, and a caller who may see one row may see them all. */
type UnscopedList<R extends Row> = {
  /** Already filtered, uid ascending. */
  readonly rows: readonly R[]
  /** One string for all conditions on `rows`. Page tokens are bound to it. */
  readonly key: string
  readonly sortable?: Sortable<R>
  /** The default is `uid asc`. */
  readonly order?: Order
}

/** One page of such a list by page_size, page_token, order_by and skip (specification §4 rule 2). */
export const unscopedPage = <R extends Row>({ query }: Pick<Ask, 'query'>, world: World, list: UnscopedList<R>): Page<R> => {
  const sortable = { ...SORTABLE, ...list.sortable }
  const paging = readPaging(query, world, { sortable, order: list.order, filterKey: list.key })
  return pageOf(world, sortRows(list.rows, paging.order, sortable), paging, sortable)
}

/** The answer of such a list: its page as rows of `message` in the member `plural`. */
export const pageAnswer = <R extends Row>(ask: Ask, world: World, plural: string, message: Message, list: UnscopedList<R>): Answer => {
  const { rows, ...envelope } = unscopedPage(ask, world, list)
  return ok({ [plural]: rows.map((row) => render(message, row)), ...envelope })
}
