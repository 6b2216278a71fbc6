import { expect, inject, test } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { differenceMutants } from './differences.ts'
import { enumMutants } from './enums.ts'
import { explained } from './explained.ts'
import { fieldMutants } from './fields.ts'
import { maskMutants } from './masks.ts'
import type { Mutant } from './mutant.ts'
import { queryMutants } from './queries.ts'
import { shuffled } from './shuffle.ts'
import { noticed, quick, thorough } from './suites.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)
const all: readonly Mutant[] = [
  ...fieldMutants(operations),
  ...enumMutants(operations),
  ...queryMutants(operations),
  ...maskMutants(operations),
  ...differenceMutants(),
]

test('every fault in the tables is noticed, or nobody could', async () => {
  const { seconds, seed } = inject('mutants')
  const chosen = seconds === undefined ? all : shuffled(all, seed)
  const end = performance.now() + 1000 * (seconds ?? Number.POSITIVE_INFINITY)
  const survivors: string[] = []
  const stale: string[] = []
  let tried = 0
  let equal = 0
  for (const mutant of chosen) {
    if (performance.now() > end) break
    tried += 1
    const reason = explained.find(({ name }) => name.test(mutant.name))
    const told = await noticed(mutant, reason ? quick : [...quick, ...thorough])
    if (reason && told !== undefined) stale.push(`${mutant.name}: ${told}`)
    if (reason) equal += 1
    else if (told === undefined) survivors.push(mutant.name)
  }
  const sample = seconds === undefined ? '' : `, a sample of ${all.length} with seed ${seed}`
  for (const name of survivors) console.log(`survived: ${name}`)
  console.log(`killed ${tried - equal - survivors.length} of ${tried}, ${equal} explained, ${survivors.length} survived${sample}`)
  expect({ survivors, stale }).toEqual({ survivors: [], stale: [] })
})

test('without a fault, and after all of them, every suite is silent', async () => {
  const nothing: Mutant = { name: 'no fault', operations: operations.map(({ id }) => id), apply: () => () => {} }
  expect(await noticed(nothing, quick)).toBeUndefined()
  expect(await noticed({ ...nothing, operations: [] }, quick)).toBeUndefined()
})

test('every explanation explains something', () => {
  expect(explained.filter(({ name }) => !all.some((mutant) => name.test(mutant.name)))).toEqual([])
})
