import { invalidArgument } from '../../errors/api-error.ts'
import type { EnumMap } from './enums.ts'
import { type Query, single } from './query.ts'
import { readChoice } from './query-value.ts'

export const ORDER_PARAMETER = 'order_by'

/** v1 names of a sort field → v2's. All are names of columns, and none is a JSON name (facts §21). */
const SORT_FIELDS: Readonly<Record<string, string>> = {
  id: 'uid',
  uid: 'uid',
  name: 'name',
  created_at: 'created_at',
  create_time: 'created_at',
  updated_at: 'updated_at',
  update_time: 'updated_at',
  last_updated: 'updated_at',
}

/** Returns the v2 `order_by` of a v1 query; undefined for the default order. `orders` is v1's enum of orders, if it has one. */
export function readOrder(query: Query, orders?: EnumMap): string | undefined {
  const value = single(query, ORDER_PARAMETER)
  if (value === undefined) return undefined
  if (orders) return readChoice(ORDER_PARAMETER, value, orders) || undefined
  if (value.trim() === '') return undefined
  const [name = '', direction = 'asc', ...rest] = value.trim().split(/\s+/)
  const field = Object.hasOwn(SORT_FIELDS, name) ? SORT_FIELDS[name] : undefined
  const way = direction.toLowerCase()
  if (field === undefined || rest.length > 0 || (way !== 'asc' && way !== 'desc')) {
    const description = `must be one of ${Object.keys(SORT_FIELDS).join(', ')}, optionally followed by asc or desc`
    throw invalidArgument({ field: ORDER_PARAMETER, description })
  }
  return way === 'desc' ? `${field} desc` : field
}
