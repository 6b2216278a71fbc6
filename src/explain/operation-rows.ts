import type { Mapping, Operation, OperationKind } from '../tables/operations/operation.ts'

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

/** Returns the codes of an operation from the tables. */
export type DifferencesOf = (operation: string) => readonly string[]

/** Describes every operation of every domain, in table order. */
export function describeOperations(mappings: readonly Mapping[], differencesOf: DifferencesOf): readonly OperationRow[] {
  return mappings.flatMap(({ operations }) => operations.map((operation) => describe(operation, differencesOf)))
}

function describe({ id, method, template, kind, calls, because }: Operation, differencesOf: DifferencesOf): OperationRow {
  return { id, method, path: template, kind, calls, differences: differencesOf(id), ...(because !== undefined && { because }) }
}
