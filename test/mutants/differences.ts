import { differences } from '../../mappings/differences.ts'
import type { DeclaredDifference } from '../../src/tables/tables.ts'
import type { Mutant } from './mutant.ts'

/** Each code left out, each one given for an operation that does not show it, and one that is made up. */
export function differenceMutants(): readonly Mutant[] {
  const [first] = differences
  if (!first) return []
  return [
    ...differences.flatMap((difference, at) => [
      fault(`difference ${difference.code}: left out`, differences.toSpliced(at, 1)),
      fault(
        `difference ${difference.code}: said of another operation`,
        differences.with(at, { ...difference, operations: [...difference.operations, 'no.such.operation'] }),
      ),
    ]),
    fault('a difference that nobody sees', [...differences, { ...first, code: 'made-up' }]),
  ]
}

function fault(name: string, list: readonly DeclaredDifference[]): Mutant {
  return { name, operations: [], apply: () => replaced(differences as DeclaredDifference[], list) }
}

function replaced(list: DeclaredDifference[], other: readonly DeclaredDifference[]): () => void {
  const before = list.splice(0, list.length, ...other)
  return () => void list.splice(0, list.length, ...before)
}
