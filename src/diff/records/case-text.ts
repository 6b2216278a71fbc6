import type { Comparison, Total } from './record.ts'

/**
 * A recorded mismatch as the text of a test (vitest, nock): v2 is played by nock from the record, v1's answer is the expectation. It
 * passes as long as the tables make these differences of these answers. `toRoot` leads from the file to the repository: `../..`.
 * Whatever stands in the record stands in the test as a JSON value and in no other way: a record file may be anybody's.
 */
export function caseText({ id, at, operation, exhibit, totals }: Comparison, toRoot: string): string | undefined {
  if (!exhibit) return undefined
  const differences = totals.filter(isUnexplained).map(({ kind, where, count }) => ({ kind, where, count }))
  return `// Texts that could be secrets are masked.
import { expect, it } from 'vitest'
import { playCase } from '${toRoot}/test/cases/play-case.ts'

it(${JSON.stringify(`${shown(operation)} as recorded ${shown(at)}, ${shown(id)}`)}, async () => {
  const differences = await playCase(${JSON.stringify(exhibit, null, 2).replaceAll('\n', '\n  ')})
  // Empty once the fault is mended in the tables; a fault of v2 itself stays in its recorded answers.
  expect(differences).toEqual(${JSON.stringify(differences)})
})
`
}

/** A hostile record holds other things than texts, some of which cannot even become one. */
function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isUnexplained({ code, noise }: Total): boolean {
  return code === undefined && !noise
}
