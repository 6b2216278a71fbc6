import type { Operation } from '../tables/operation.ts'
import { spellings } from '../tables/query.ts'

/** Returns the name of a query parameter in a form that a log may hold. */
export type NameForLog = (name: string) => string

/**
 * An unknown parameter may be anything, even a pasted key, and its form does not reveal that.
 * The log therefore names only parameters that some operation knows.
 */
export function createNameForLog(operations: readonly Operation[]): NameForLog {
  const names = new Set(operations.flatMap(({ params, ownParams }) => [...Object.keys(params), ...ownParams].flatMap(spellings)))
  return (name) => (names.has(name) ? name : '(no name)')
}
