import type { Comparison, Total } from './record.ts'

/**
 * Writes a recorded mismatch as a test (vitest, nock). nock plays v2 from the record, and v1's answer is the expectation.
 * The test passes while the tables still give these differences for these answers. `toRoot` is the path to the repository: `../..`.
 * A record file may be hostile, so its content enters the test only as JSON values.
 */
export function caseText({ id, at, operation, request, exhibit, totals }: Comparison, toRoot: string): string | undefined {
  if (!exhibit) return undefined
  const asked = request ? `: ${shown(request.method)} ${shown(request.url)}` : ''
  const differences = totals.filter(isUnexplained).map(({ kind, where, count }) => ({ kind, where, count }))
  return `// Texts that could be secrets are masked.
import { expect, it } from 'vitest'
import { playCase } from '${toRoot}/test/cases/play-case.ts'

it(${JSON.stringify(`${shown(operation)} as recorded ${shown(at)}, ${shown(id)}${asked}`)}, async () => {
  const differences = await playCase(${JSON.stringify(exhibit, null, 2).replaceAll('\n', '\n  ')})
  // Becomes empty when the tables are mended. A fault of v2 itself stays in its recorded answers.
  expect(differences).toEqual(${JSON.stringify(differences)})
})
`
}

/** Returns a text. A hostile record may hold other values, and some of them cannot be converted. */
function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isUnexplained({ code, noise }: Total): boolean {
  return code === undefined && !noise
}
