import { suggestion } from '../tables/check.ts'

/** What one operation says of a row. */
interface NamedRow {
  /** `project.parent.id`. */
  readonly row: string
  /** The name in the row that the contract may lack. */
  readonly name: string
  readonly isKnown: boolean
  /** False where the operation does not look at the row. */
  readonly isUsed: boolean
  readonly problem: string
  /** The names that the contract has there. */
  readonly known: Iterable<string>
}

/** Rows that name what a contract does not have. A row that one operation knows is none: messages are shared. */
export interface Strangers {
  readonly add: (named: NamedRow) => void
  /** A sentence for each. */
  readonly problems: () => readonly string[]
}

export function createStrangers(): Strangers {
  const met = new Set<string>()
  const unmet = new Map<string, string>()
  return {
    add({ row, name, isKnown, isUsed, problem, known }) {
      if (isKnown) met.add(row)
      else if (isUsed && !unmet.has(row)) {
        const names = [...known]
        unmet.set(row, `row ${row}: ${problem}; ${suggestion(name, names, `it has ${names.join(', ') || 'none'}.`)}`)
      }
    },
    problems: () => [...unmet].flatMap(([row, problem]) => (met.has(row) ? [] : [problem])),
  }
}
