import type { Operation, OperationKind } from '../tables/operation.ts'
import { differencesOf, operationsOf, type Tables } from '../tables/tables.ts'

/** One row of `crosswalk operations` and of the admin port's `/operations`. */
export interface OperationRow {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly kind: OperationKind
  /** The v2 calls that it can make, as `METHOD /path`. */
  readonly calls: readonly string[]
  /** Codes of the differences that a client can see. */
  readonly differences: readonly string[]
  /** Why it is v1-only, or what its emulation cannot know. */
  readonly because?: string
}

type DifferencesOf = ReturnType<typeof differencesOf>

/** Describes every operation of every domain, in table order. */
export function describeOperations(tables: Tables): readonly OperationRow[] {
  const codesOf = differencesOf(tables)
  return operationsOf(tables).map((operation) => describe(operation, codesOf))
}

function describe({ id, method, template, kind, calls, because }: Operation, codesOf: DifferencesOf): OperationRow {
  return { id, method, path: template, kind, calls, differences: codesOf(id), ...(because !== undefined && { because }) }
}
