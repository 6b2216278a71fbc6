import { camelCase } from '../http/case.ts'
import { type Query, readQuery } from '../http/query.ts'

/**
 * The paging parameters of a list that had pages in v1 already (facts §10.2): `names` (snake_case) under either spelling and nothing
 * else, so that a parameter v1 does not have there is ignored.
 */
export const ownPaging = (query: Query, ...names: readonly string[]): Query => {
  const known = new Set(names.flatMap((name) => [name, camelCase(name)]))
  return readQuery(query.pairs.filter(([name]) => known.has(name)))
}
