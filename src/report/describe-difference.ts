import type { Describe } from './reporter.ts'

/** A declared difference in words, as `mappings/differences.ts` has it. */
interface Described {
  readonly code: string
  readonly seen: string
  readonly because: string
}

/** What the tables say about a code; a code of older tables that is gone says nothing. */
export function describeWith(differences: readonly Described[]): Describe {
  const known = new Map(differences.map(({ code, seen, because }) => [code, { seen, because }]))
  return (code) => known.get(code) ?? { seen: '', because: '' }
}
