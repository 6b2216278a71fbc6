import { invalidField } from '../status.ts'
import type { Row } from '../world/model.ts'

/** The order of a list: by one member, then by uid ascending. `name` is the member's database-style name. */
export type Order = { readonly name: string; readonly descending: boolean }

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
export const parseOrder = <R>(text: string, sortable: Sortable<R>): Order => {
  const [field = '', direction = 'asc', ...rest] = text.trim().split(/\s+/)
  const name = ALIASES[field] ?? field
  const known = Object.hasOwn(sortable, name) && rest.length === 0 && /^(?:asc|desc)$/i.test(direction)
  if (!known) invalidField('order_by', `must be one of ${Object.keys(sortable).join(', ')}, optionally followed by asc or desc`)
  return { name, descending: direction.toLowerCase() === 'desc' }
}

/** Bytewise, since every sortable value is ASCII. */
const compareText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** The position of a row in an order. */
export type Position = { readonly value: string; readonly uid: string }

export const comparePositions = (order: Order, left: Position, right: Position): number =>
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
