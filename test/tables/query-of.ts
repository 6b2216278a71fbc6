import type { Query } from '../../src/tables/query.ts'

/** Parses a query string into the form that plans see: decoded, with every occurrence. */
export function queryOf(search: string): Query {
  const query = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(search)) query.set(name, [...(query.get(name) ?? []), value])
  return query
}
