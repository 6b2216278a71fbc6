import type { AsyncFunction, CompareOptions } from './compare-options.ts'
import type { ComparedFunction, ComparisonGroup } from './comparison-group.ts'
import { createComparison } from './create-comparison.ts'

/**
 * Returns a function that answers as legacy does, and compares next besides:
 *
 *     const getUser = compare(legacyGetUser, nextGetUser, { name: 'users.get', isRead: true })
 *     const user = await getUser('u1')
 *     console.log(getUser.comparison.verdict().verdict)
 *
 * The caller gets the result or the error of the side that the mode says, and waits for nothing else. Functions with the same `comparison`
 * share a report. Throws an Error with a sentence about an option that is wrong.
 */
export function compare<Args extends readonly unknown[], Result>(
  legacy: AsyncFunction<Args, Result>,
  next: AsyncFunction<Args, Result>,
  { comparison = createComparison(), ...options }: CompareOptions<Args, Result> & { readonly comparison?: ComparisonGroup },
): ComparedFunction<Args, Result> {
  return comparison.compare(legacy, next, options as CompareOptions<Args, Result>)
}
