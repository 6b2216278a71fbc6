import type { Mapping } from '../../tables/operation.ts'
import type { V1OnlyShape } from '../../tables/resource.ts'
import type { FactsOfBoth } from '../facts.ts'
import { checkMethods } from './check-methods.ts'
import { checkTypes } from './check-types.ts'
import { checkV1Members } from './check-v1-members.ts'
import { checkV2Members } from './check-v2-members.ts'
import { methodsOf } from './method-routes.ts'

/** What the tables know of operations that v1 alone serves, by their ids. */
export type Shapes = Readonly<Record<string, V1OnlyShape>>

/**
 * Checks the facts at start, each for itself and against the tables. It builds no descriptors and keeps nothing.
 * Throws a sentence that names the file, the message and the field. A number that is wrong and free is left to the tests: no table has it.
 */
export function checkFacts({ v1, v2 }: FactsOfBoth, mappings: readonly Mapping[], shapes: Shapes): void {
  const [first, second] = [
    { ...v1, api: 'v1' as const },
    { ...v2, api: 'v2' as const },
  ]
  for (const facts of [first, second]) checkTypes(facts)
  const [v1Methods, v2Methods] = [methodsOf(first), methodsOf(second)]
  checkMethods(first, v1Methods, second, v2Methods, mappings)
  for (const operation of mappings.flatMap(({ operations }) => operations)) {
    checkV1Members(first, v1Methods, operation, shapes[operation.id])
    checkV2Members(second, v2Methods, operation)
  }
}
