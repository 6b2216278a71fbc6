import { spellings } from '../tables/language/query.ts'
import type { Operation } from '../tables/operations/operation.ts'

/** The name of a query parameter as a log may hold it. */
export type NameForLog = (name: string) => string

/**
 * A parameter that an operation does not know may be anything, a pasted key too, and no look at it tells. Logged is therefore only what some
 * operation of these calls a parameter.
 */
export function createNameForLog(operations: readonly Operation[]): NameForLog {
  const names = new Set(operations.flatMap(({ params, ownParams }) => [...Object.keys(params), ...ownParams].flatMap(spellings)))
  return (name) => (names.has(name) ? name : '(no name)')
}
