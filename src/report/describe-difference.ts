import type { Describe } from './reporter.ts'

/** The texts of a declared difference in `mappings/differences.ts`. */
interface Described {
  readonly code: string
  readonly seen: string
  readonly because: string
}

/** Returns the tables' texts about a code. A code that is no longer in the tables has none. */
export function describeWith(differences: readonly Described[]): Describe {
  const known = new Map(differences.map(({ code, seen, because }) => [code, { seen, because }]))
  return (code) => known.get(code) ?? { seen: '', because: '' }
}
