import { suggestion } from '../tables/check.ts'
import { covers } from '../tables/operation.ts'
import { paramsOf } from '../tables/query.ts'
import { type DeclaredDifference, operationsOf, type Tables } from '../tables/tables.ts'

/** Yields a sentence for each declared difference that names an operation or a parameter that nobody has. */
export function* differenceProblems(tables: Pick<Tables, 'mappings' | 'differences'>): Generator<string> {
  const operations = operationsOf(tables)
  const ids = operations.map(({ id }) => id)
  for (const difference of tables.differences) {
    const { code, operations: patterns } = difference
    for (const pattern of patterns) {
      if (!ids.some((id) => covers(pattern, id)))
        yield `difference ${code}: "${pattern}" fits no operation; ${suggestion(pattern, ids, 'remove it.')}`
    }
    const covered = operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
    const known = covered.flatMap(paramsOf)
    for (const name of parametersOf(difference)) {
      if (!known.includes(name))
        yield `difference ${code}: no operation of it has a parameter ${name}; ${suggestion(name, known, 'remove it.')}`
    }
  }
}

function parametersOf({ met, signs = [] }: DeclaredDifference): readonly string[] {
  return [...new Set([...(met?.given ?? []), ...signs.flatMap(({ when = [] }) => when.flatMap(({ param }) => param))])]
}
