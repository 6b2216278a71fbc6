import type { Describe } from './reporter.ts'

/** The texts of a declared difference in `mappings/differences.ts`. */
interface Described {
  readonly code: string
  readonly seen: string
  readonly because: string
}

/** Returns the tables' texts about a code. A code that is no longer in the tables has none. The list may change. */
export function describeWith(differences: readonly Described[]): Describe {
  return (code) => {
    const { seen = '', because = '' } = differences.find((one) => one.code === code) ?? {}
    return { seen, because }
  }
}
