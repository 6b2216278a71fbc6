import type { Query } from '../http/query.ts'
import { invalidArgument, invalidField } from '../status.ts'

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

function refuseNegative(values: readonly (readonly [name: string, value: number])[]): void {
  const negative = values.filter(([, value]) => value < 0)
  if (negative.length > 0) invalidArgument(negative.map(([field]) => ({ field, description: 'must be non-negative' })))
}

/** The requested window of a list, otherwise the full set. Throws code 3 for negative numbers and mixed spellings. */
export function readWindow(query: Query): Window {
  const given = families.flat().filter((name) => query.has(name))
  refuseNegative(given.map((name) => [name, query.integer(name)]))
  // Zero is unset, as in proto3.
  const [family, other] = families.filter((names) => names.some((name) => query.integer(name) !== 0))
  if (!family) return everything
  if (other) invalidField(other.find((name) => query.integer(name) !== 0) ?? other[0], `cannot be combined with ${family.join(' and ')}`)
  const [first, size] = family.map((name) => query.integer(name)) as [number, number]
  return family[0] === 'offset' ? slice(first, size) : page(first, size)
}
