/** One fault in the tables, as data. */
export interface Mutant {
  /** Where and what: `role binding.group.name: source 1 renamed`. */
  readonly name: string
  /** Operations that a client could notice it by; of a fault in the list of differences, none. */
  readonly operations: readonly string[]
  /** Puts the fault in place; the result takes it away again. */
  readonly apply: () => () => void
}

/**
 * Overwrites members of a table and returns what restores them. Plans read their tables when they run, so that a running proxy shows the
 * fault at once; `readonly` is a promise of the source, not of the object.
 */
export function overwrite<T extends object>(table: T, changes: Partial<T>): () => void {
  const before = { ...table }
  Object.assign(table, changes)
  return () => void Object.assign(table, before)
}
