import { requireCapability, visible } from '../auth/rights.ts'
import { type Ask, type Query, readQuery } from '../http/route.ts'
import {
  equals,
  type Filter,
  type Order,
  readUidp,
  refuseNegatives,
  SORTABLE,
  type Sortable,
  selectRows,
  sortRows,
  UID_ASCENDING,
  type Uidp,
} from '../lists.ts'
import { camelCase, type Message, snakeCase } from '../messages/message.ts'
import { invalidField } from '../status.ts'
import { actOf, create, createAct, type Resource, readableRow, remove, uidParam, update } from '../v2/resource.ts'
import type { Row } from '../world/model.ts'
import type { World } from '../world/store.ts'
import type { V1Message } from './message.ts'
import { type Decoded, decode, encodeResource, type Operation } from './operation.ts'

/** v1's names of columns (specification §9.5; `last_updated` belongs to tags, facts §4.2). */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ['id', 'uid'],
  ['uid', 'uid'],
  ['name', 'name'],
  ['created_at', 'created_at'],
  ['create_time', 'created_at'],
  ['updated_at', 'updated_at'],
  ['update_time', 'updated_at'],
  ['last_updated', 'updated_at'],
])

/** The same columns for every resource. A resource without a name sorts by uid. */
export const sortable: Sortable<Row> = { ...SORTABLE, name: (row) => ('name' in row ? String(row.name) : '') }

/** Reads `order_by=field [asc|desc]`. Returns `fallback` for an absent one and throws code 3 on `order_by` for any other text. */
export function readOrder(query: Query, fallback: Order): Order {
  const text = query.text('order_by').trim()
  if (text === '') return fallback
  const [, field = '', direction = 'asc'] = /^(\S+)(?:\s+(asc|desc))?$/i.exec(text) ?? []
  const name = COLUMNS.get(field)
  if (name === undefined) {
    return invalidField('order_by', `must be one of ${[...COLUMNS.keys()].join(', ')}, optionally followed by asc or desc`)
  }
  return { name, descending: direction.toLowerCase() === 'desc' }
}

/**
 * The paging parameters of a list that had pages in v1 already (facts §10.2). It passes `names` (snake_case) in either spelling and nothing
 * else, so that parameters unknown to v1 are ignored.
 */
export const ownPaging = (query: Query, ...names: readonly string[]): Query => {
  const known = new Set(names.flatMap((name) => [name, camelCase(name)]))
  return readQuery(query.pairs.filter(([name]) => known.has(name)))
}

/** Replaces a 64-bit page_size above 32 bits by the largest 32-bit number: no page is that long (facts §5.1). */
export const longPages = (query: Query): Query =>
  readQuery(query.pairs.map(([name, value]) => [name, snakeCase(name) === 'page_size' ? inInt32(value) : value]))

const inInt32 = (value: string): string => {
  if (!/^[+-]?[0-9]{1,20}$/.test(value)) return value
  const number = BigInt(value.replace('+', ''))
  if (BigInt.asIntN(64, number) !== number || BigInt.asIntN(32, number) === number) return value
  return number < 0n ? '-1' : '2147483647'
}

/** A resource whose `members` are optional: v1 validates less than v2 (facts §24.13). Given values are checked as in v2. */
export function relaxed<R extends Row>(resource: Resource<R>, ...members: readonly string[]): Resource<R> {
  const fields: Message['fields'] = Object.fromEntries(
    Object.entries(resource.message.fields).map(([name, field]) => {
      const { required: _, ...optional } = field
      return [name, members.includes(name) ? optional : field]
    }),
  )
  return { ...resource, message: { ...resource.message, fields } }
}

/** Three spellings of a start and a size. One request may use one of them (specification §9.5). */
const families = [
  ['offset', 'limit'],
  ['page', 'page_size'],
  ['page_number', 'per_page'],
] as const

/** The size of a page if only its number is given. */
const DEFAULT_PAGE = 50

/** Half-open: the rows from `from` up to, but excluding, `to`. */
export type Window = { readonly from: number; readonly to: number }

const everything: Window = { from: 0, to: Number.POSITIVE_INFINITY }

const slice = (offset: number, limit: number): Window => ({ from: offset, to: limit === 0 ? everything.to : offset + limit })

/** Pages count from 1; 0 and unset mean the first. Without page and size there is no window. */
function page(number: number, size: number): Window {
  if (number === 0 && size === 0) return everything
  const rows = size || DEFAULT_PAGE
  return slice((Math.max(number, 1) - 1) * rows, rows)
}

/** The requested window of a list, otherwise the full set. Throws code 3 for negative numbers and mixed spellings. */
export function readWindow(query: Query): Window {
  refuseNegatives(query, families.flat())
  // Zero is unset, as in proto3.
  const [family, other] = families.filter((names) => names.some((name) => query.integer(name) !== 0))
  if (!family) return everything
  if (other) invalidField(other.find((name) => query.integer(name) !== 0) ?? other[0], `cannot be combined with ${family.join(' and ')}`)
  const [first, size] = family.map((name) => query.integer(name)) as [number, number]
  return family[0] === 'offset' ? slice(first, size) : page(first, size)
}

/** The members that v1 shows inline and v2 does not, added to a stored row before it is encoded. */
export type ListView<R extends Row> = (row: R, world: World) => Readonly<Record<string, unknown>>

/** A list that returns the full set (facts §10). */
type List<R extends Row> = {
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

/**
 * `GET <path>/{id}`: one resource by its uid. NOT_FOUND when there is none; v1's lists by id answer an empty list instead (facts §11).
 *
 *     getOperation({ resource: roles, path: '/iam/v1/roles', message: role })
 */
export const getOperation = <R extends Row>(
  { resource, path, message, view }: Pick<List<R>, 'resource' | 'path' | 'message' | 'view'>,
  variable = 'id',
): Operation => ({
  method: 'GET',
  template: `${path}/{${variable}=**}`,
  answer: (ask, world) => {
    const row = readableRow(resource, actOf(ask, world), uidParam(ask, variable))
    return encodeResource(view?.(row, world) ?? row, message, world.options.v1Dialect)
  },
})

/** One resource as v1 writes it. */
export type Written<R extends Row> = {
  readonly resource: Resource<R>
  /** The collection, e.g. `/iam/v1/roles`. */
  readonly path: string
  /** The answer of a write. */
  readonly message: V1Message
  /** The request of a write, if it is another message. */
  readonly request?: V1Message
  readonly view?: ListView<R>
  /** Checks or completes the body: refuses members that the stored row lacks, adds v1's own defaults. */
  readonly accept?: (body: Decoded) => Decoded
  /** Stores the members of the body that are not part of the row. */
  readonly beside?: (uid: string, body: Decoded, world: World) => void
}

const requestOf = <R extends Row>({ request, message }: Written<R>): V1Message => request ?? message

/** The body of a write in the names of the store. */
export function readBody<R extends Row>(written: Written<R>, ask: Ask): Decoded {
  const body = decode(ask.body, requestOf(written))
  return written.accept?.(body) ?? body
}

/** Ends a write: stores the members beside the row and answers with the whole resource (facts §13.9). */
export function answerOf<R extends Row>({ message, view, beside }: Written<R>, row: R, body: Decoded, world: World): unknown {
  beside?.(row.uid, body, world)
  return encodeResource(view?.(row, world) ?? row, message, world.options.v1Dialect)
}

/** `POST <path>/{parent}`. Ids in the body are ignored (facts §12.7). `variable` is the proto name of the path's parent. */
export const createOperation = <R extends Row>(written: Written<R>, variable: string): Operation => ({
  method: 'POST',
  template: `${written.path}/{${variable}=**}`,
  message: requestOf(written),
  answer: (ask, world) => {
    const act = createAct(written.resource, actOf(ask, world), uidParam(ask, variable))
    const body = readBody(written, ask)
    return answerOf(written, create(written.resource, act, body), body, world)
  },
})

/** The stored members that a PUT replaces, given its body. Members that the body lacks are reset (facts §13). */
export type Replaced = (body: Decoded, ask: Ask, world: World) => readonly string[]

/** Replaces `members` of the row of `uid` by the values in `body`. All others stay. */
export const replace = <R extends Row>(
  resource: Resource<R>,
  ask: Ask,
  world: World,
  uid: string,
  body: Decoded,
  members: readonly string[],
): R => update(resource, { ...actOf(ask, world), query: readQuery([['update_mask', members.join(',')]]) }, uid, body)

/** `PUT <path>/{id}`: the path wins over the body. A missing resource is code 5 with 404. */
export const replaceOperation = <R extends Row>(written: Written<R>, replaced: Replaced, variable = 'id'): Operation => ({
  method: 'PUT',
  template: `${written.path}/{${variable}=**}`,
  message: requestOf(written),
  answer: (ask, world) => {
    const { resource } = written
    const uid = uidParam(ask, variable)
    requireCapability(world, actOf(ask, world).caller, resource.capabilities.update ?? [], uid)
    const body = readBody(written, ask)
    return answerOf(written, replace(resource, ask, world, uid, body, replaced(body, ask, world)), body, world)
  },
})

/** `DELETE <path>/{id}`: answers `{}`, even if nothing was there (facts §14). */
export const deleteOperation = <R extends Row>({ resource, path }: Pick<Written<R>, 'resource' | 'path'>, variable = 'id'): Operation => ({
  method: 'DELETE',
  template: `${path}/{${variable}=**}`,
  answer: (ask, world) => {
    const uid = uidParam(ask, variable)
    const act = actOf(ask, world)
    requireCapability(world, act.caller, resource.capabilities.delete ?? [], uid)
    if (resource.table(world.store).get(uid)) remove(resource, act, uid)
    return {}
  },
})
