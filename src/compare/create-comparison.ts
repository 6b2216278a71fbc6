import { reportLines } from '../admin/report/report.ts'
import { pageOf, readAssets } from '../admin/report-page.ts'
import { comparedFunction } from './call/compared-function.ts'
import type { AsyncFunction, CompareOptions } from './compare-options.ts'
import type { ComparedFunction, ComparisonGroup, ComparisonOptions } from './comparison-group.ts'
import type { ComparisonSettings } from './comparison-settings.ts'
import { type FunctionPair, pairOf } from './function-operation.ts'
import { verdictOn } from './function-verdict.ts'
import { openComparison } from './open-comparison.ts'

/**
 * Makes a group of functions that share a report, a verdict and the limits of comparing:
 *
 *     const comparison = createComparison({ records: { file: 'users.jsonl' } }, { onMismatch: (one) => log.warn(one.name) })
 *     const getUser = comparison.compare(legacyGetUser, nextGetUser, { name: 'users.get', isRead: true })
 *
 * It keeps no process from exiting, and shares nothing with another group. Throws an Error with a sentence for each setting that is wrong.
 */
export function createComparison(settings: ComparisonSettings = {}, options: ComparisonOptions = {}): ComparisonGroup {
  const { means, operations, report, unread, close } = openComparison(settings, options)
  const { migration, restored } = means
  const comparison: ComparisonGroup = {
    compare<Args extends readonly unknown[], Result>(
      legacy: AsyncFunction<Args, Result>,
      next: AsyncFunction<Args, Result>,
      given: CompareOptions<Args, Result>,
    ) {
      const pair = pairOf(legacy as FunctionPair['legacy'], next as FunctionPair['next'], given as unknown as CompareOptions)
      const { id } = pair.operation
      if (operations.some((known) => known.id === id)) throw new Error(`name is "${id}" for other functions too; give each pair its own.`)
      const compared = comparedFunction(pair, means)
      operations.push(pair.operation)
      return Object.assign(compared, { comparison }) as unknown as ComparedFunction<Args, Result>
    },
    report,
    reportText: () => reportLines(report()).join('\n'),
    reportPage: () => pageOf(report(), readAssets()).html,
    verdict: () => verdictOn(report(), unread()),
    closeCircuit: (name) => void migration.journal.circuit.close((operation) => operation === name),
    async idle() {
      await restored
      await migration.idle()
    },
    close,
  }
  return comparison
}
