import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Query } from './http/route.ts'
import { invalidArgument, invalidField } from './status.ts'
import type { Row } from './world/model.ts'
import { bisect, inRoot, isAtOrBelow, isBelow, parentOf, type Table, type World } from './world/store.ts'

/** A condition on the rows of a list. Equal keys mean equal conditions; page tokens and remembered results are bound to the key. */
export type Filter<R> = { readonly key: string; readonly matches: (row: R) => boolean }

export type Uidp = Readonly<ReturnType<typeof readUidp>>

/** Reads the scoping parameters of a list (semantics §1). An empty value does not narrow it. */
export const readUidp = (query: Query) => ({
  ancestorsOf: query.text('uidp.ancestors_of'),
  descendantsOf: query.text('uidp.descendants_of'),
  childrenOf: query.text('uidp.children_of'),
  inRoot: query.flag('uidp.in_root'),
  ids: query.texts('uidp.ids').filter((uid) => uid !== ''),
})

/**
 * True if a uid passes. `descendants_of` means strictly below, `children_of` the direct parent, `ancestors_of` the chain from that uid to
 * its root, both included. Several members must all hold.
 */
const matchesUidp = (uidp: Uidp, uid: string): boolean =>
  (uidp.ancestorsOf === '' || isAtOrBelow(uid, uidp.ancestorsOf)) &&
  (uidp.descendantsOf === '' || isBelow(uidp.descendantsOf, uid)) &&
  (uidp.childrenOf === '' || parentOf(uid) === uidp.childrenOf) &&
  (!uidp.inRoot || inRoot(uid)) &&
  (uidp.ids.length === 0 || uidp.ids.includes(uid))

/** The uid at or above every row that passes `uidp`, if there is one. A caller who may see that uid may see all the rows. */
export const scopeOf = (uidp: Uidp): string => uidp.childrenOf || uidp.descendantsOf

/** The rows of `table` that pass `uidp` and every filter, uid ascending. The result is remembered until the table changes. */
export const selectRows = <R extends Row>(table: Table<R>, uidp: Uidp, filters: readonly Filter<R>[]): readonly R[] =>
  table.derived(`rows ${filterKey(uidp, filters)}`, () => {
    const scope = scopeOf(uidp)
    const candidates = scope === '' ? table.values() : table.below(scope)
    return candidates.filter((row) => matchesUidp(uidp, row.uid) && filters.every(({ matches }) => matches(row)))
  })

/** One string for all conditions of a list, independent of the order of the parameters. */
export const filterKey = <R>(uidp: Uidp, filters: readonly Filter<R>[]): string =>
  JSON.stringify([uidp.ancestorsOf, uidp.descendantsOf, uidp.childrenOf, uidp.inRoot, uidp.ids, filters.map(({ key }) => key)])

/** A filter for rows whose string member equals the parameter of that snake_case name. An absent or empty parameter is no filter. */
export const equals = <R>(query: Query, name: string, read: (row: R) => string | undefined): readonly Filter<R>[] => {
  const wanted = query.text(name)
  return wanted === '' ? [] : [{ key: `${name}=${wanted}`, matches: (row) => read(row) === wanted }]
}

/** The order of a list: by one member, then by uid ascending. `name` is the member's database-style name. */
export type Order = { readonly name: string; readonly descending: boolean }

/** The default order of a list. */
export const UID_ASCENDING: Order = { name: 'uid', descending: false }

/** Database-style name → the value to compare rows by. Unset times are '' and so come first in ascending order. */
export type Sortable<R> = Readonly<Record<string, (row: R) => string>>

/** Spellings that mean the same column (semantics §5). */
const ALIASES: Readonly<Record<string, string>> = {
  id: 'uid',
  create_time: 'created_at',
  createTime: 'created_at',
  update_time: 'updated_at',
  updateTime: 'updated_at',
}

/** The columns that every resource can be sorted by. */
export const SORTABLE: Sortable<Row> = {
  uid: ({ uid }) => uid,
  created_at: ({ createTime }) => createTime ?? '',
  updated_at: ({ updateTime }) => updateTime ?? '',
}

/** Reads `field [asc|desc]` (specification §4 rule 2); an unknown field or direction is INVALID_ARGUMENT on `order_by`. */
const parseOrder = <R>(text: string, sortable: Sortable<R>): Order => {
  const [field = '', direction = 'asc', ...rest] = text.trim().split(/\s+/)
  const name = ALIASES[field] ?? field
  const known = Object.hasOwn(sortable, name) && rest.length === 0 && /^(?:asc|desc)$/i.test(direction)
  if (!known) invalidField('order_by', `must be one of ${Object.keys(sortable).join(', ')}, optionally followed by asc or desc`)
  return { name, descending: direction.toLowerCase() === 'desc' }
}

/** Bytewise, since every sortable value is ASCII. */
const compareText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** The position of a row in an order. */
type Position = { readonly value: string; readonly uid: string }

const comparePositions = (order: Order, left: Position, right: Position): number =>
  compareText(left.value, right.value) * (order.descending ? -1 : 1) || compareText(left.uid, right.uid)

/** Sorts `rows`, which come in uid order, into `order`. */
export const sortRows = <R extends Row>(rows: readonly R[], order: Order, sortable: Sortable<R>): readonly R[] => {
  if (order.name === 'uid' && !order.descending) return rows
  const read = sortable[order.name]!
  return rows
    .map((row) => ({ row, value: read(row), uid: row.uid }))
    .sort((left, right) => comparePositions(order, left, right))
    .map(({ row }) => row)
}

/** The content of a page token. */
type PageToken = {
  /** Milliseconds since the epoch. */
  readonly issuedAt: number
  readonly order: Order
  /** The last row of the previous page. */
  readonly after: Position
  /** Rows skipped so far. */
  readonly skipped: number
  readonly filterHash: string
}

const sign = (payload: string, key: string): Buffer => createHmac('sha256', key).update(payload).digest()

/** Opaque to clients: base64url of the payload and of its signature. */
const writeToken = (token: PageToken, key: string): string => {
  const payload = Buffer.from(JSON.stringify(token)).toString('base64url')
  return `${payload}.${sign(payload, key).toString('base64url')}`
}

/** The content of a token. INVALID_ARGUMENT on `page_token` unless this sandbox made it. */
const readToken = (text: string, key: string): PageToken => {
  const [payload = '', signature = ''] = text.split('.', 2)
  const expected = sign(payload, key)
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return invalidField('page_token', 'is not valid')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as PageToken
}

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

/** INVALID_ARGUMENT on each of these parameters that is negative. */
export const refuseNegatives = (query: Query, names: readonly string[]): void => {
  const negative = names.filter((field) => query.integer(field) < 0)
  if (negative.length > 0) invalidArgument(negative.map((field) => ({ field, description: 'must be non-negative' })))
}

/**
 * Reads page_size, page_token, order_by and skip. The default order is `uid asc`. A token older than three days, or from another order_by,
 * restarts the list without an error. A forged token, or one from other filters, is INVALID_ARGUMENT (specification §8, semantics §5).
 */
export const readPaging = <R>(
  query: Query,
  world: World,
  list: { sortable: Sortable<R>; order?: Order | undefined; filterKey: string },
): Paging => {
  refuseNegatives(query, ['page_size', 'skip'])
  const filterHash = hash(list.filterKey)
  const asked = query.text('order_by') === '' ? undefined : parseOrder(query.text('order_by'), list.sortable)
  const token = query.text('page_token') === '' ? undefined : readToken(query.text('page_token'), world.pageKey)
  if (token && token.filterHash !== filterHash) invalidField('page_token', 'was made for a listing with other filters')
  const order = asked ?? token?.order ?? list.order ?? UID_ASCENDING
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
  return bisect(rows.length, (index) => {
    const row = rows[index]!
    return comparePositions(paging.order, { value: read(row), uid: row.uid }, after) <= 0
  })
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
