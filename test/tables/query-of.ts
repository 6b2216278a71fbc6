import type { Query } from '../../src/tables/language/query.ts'

/** A query string as plans see it: decoded, every occurrence kept. */
export function queryOf(search: string): Query {
  const query = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(search)) query.set(name, [...(query.get(name) ?? []), value])
  return query
}
