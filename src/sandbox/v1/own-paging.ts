import { camelCase, snakeCase } from '../http/case.ts'
import { type Query, readQuery } from '../http/query.ts'

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
