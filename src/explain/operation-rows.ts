import type { Kind, Mapping, Operation } from '../tables/operations/operation.ts'

/** One row of `crosswalk operations` and of the admin port's `/operations`. */
export interface OperationRow {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly kind: Kind
  /** v2 calls it can make, as `METHOD /path`. */
  readonly calls: readonly string[]
  /** Codes of what a client can see differently. */
  readonly differences: readonly string[]
  /** Why it is v1-only, or what its emulation cannot know. */
  readonly because?: string
}

/** The codes of an operation; the tables know them. */
export type DifferencesOf = (operation: string) => readonly string[]

/** Every operation of every domain, in table order. */
export function describeOperations(mappings: readonly Mapping[], differencesOf: DifferencesOf): readonly OperationRow[] {
  return mappings.flatMap(({ operations }) => operations.map((operation) => describe(operation, differencesOf)))
}

function describe({ id, method, template, kind, calls, because }: Operation, differencesOf: DifferencesOf): OperationRow {
  return { id, method, path: template, kind, calls, differences: differencesOf(id), ...(because !== undefined && { because }) }
}
