import { camelCase, snakeCase } from '../http/case.ts'
import { type Query, readQuery } from '../http/query.ts'

/**
 * The paging parameters of a list that had pages in v1 already (facts §10.2): `names` (snake_case) under either spelling and nothing
 * else, so that a parameter v1 does not have there is ignored.
 */
export const ownPaging = (query: Query, ...names: readonly string[]): Query => {
  const known = new Set(names.flatMap((name) => [name, camelCase(name)]))
  return readQuery(query.pairs.filter(([name]) => known.has(name)))
}

/** Where v1's page_size is a 64-bit number, one that 32 bits do not hold is the largest that they do: no page is that long (facts §5.1). */
export const longPages = (query: Query): Query =>
  readQuery(query.pairs.map(([name, value]) => [name, snakeCase(name) === 'page_size' ? inInt32(value) : value]))

const inInt32 = (value: string): string => {
  if (!/^[+-]?[0-9]{1,20}$/.test(value)) return value
  const number = BigInt(value.replace('+', ''))
  if (BigInt.asIntN(64, number) !== number || BigInt.asIntN(32, number) === number) return value
  return number < 0n ? '-1' : '2147483647'
}
