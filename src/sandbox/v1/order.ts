import type { Query } from '../http/query.ts'
import { type Order, SORTABLE, type Sortable } from '../lists/order.ts'
import { invalidField } from '../status.ts'
import type { Row } from '../world/model.ts'

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

export const UID_ASCENDING: Order = { name: 'uid', descending: false }

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
