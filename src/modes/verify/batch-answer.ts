import { isObject } from '../../tables/json.ts'
import type { ComparedRequest } from '../journal.ts'
import type { Reading } from './reader.ts'

/**
 * Compares the items in the answer to a batch with those in its body, a bare array in the same order (facts §3.5).
 * Returns a sentence if the answer names more, fewer or others: a read would not show which of them are missing.
 */
export function unlikeBatch({ request: { body } }: ComparedRequest, readings: readonly Reading[]): string | undefined {
  if (!Array.isArray(body) || readings.every(({ table }) => table.list === undefined)) return undefined
  const items = readings.map(({ item }) => item)
  if (items.length !== body.length) return `the answer names ${items.length} resources, and the request ${body.length}`
  return items.every((item, at) => repeats(item, body[at])) ? undefined : 'the answer names other resources than the request'
}

/** True if every text of the wanted item is the same in the answer, where both have it. */
function repeats(item: unknown, wanted: unknown): boolean {
  if (!isObject(item) || !isObject(wanted)) return true
  return Object.entries(wanted).every(([name, value]) => typeof value !== 'string' || !Object.hasOwn(item, name) || item[name] === value)
}
