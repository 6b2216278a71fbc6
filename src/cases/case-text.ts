import type { Comparison, Total } from '../migrate/records/record.ts'

/**
 * Writes a recorded mismatch as a test that Node's own runner plays: `node --test FILE`. v2 answers from the record, and v1's answer is
 * the expectation. The test passes while the tables still give these differences for these answers.
 * A record file may be hostile, so its content enters the test only as JSON values.
 */
export function caseText({ id, at, operation, request, exhibit, totals }: Comparison): string | undefined {
  if (!exhibit) return undefined
  const asked = request ? `: ${shown(request.method)} ${shown(request.url)}` : ''
  const differences = totals.filter(isUnexplained).map(({ kind, where, count }) => ({ kind, where, count }))
  return `// Texts that could be secrets are masked. Run it by: node --test FILE
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { playCase } from 'crosswalk/case'

it(${JSON.stringify(`${shown(operation)} as recorded ${shown(at)}, ${shown(id)}${asked}`)}, async () => {
  const differences = await playCase(${JSON.stringify(exhibit, null, 2).replaceAll('\n', '\n  ')})
  // Becomes empty when the tables are mended. A fault of v2 itself stays in its recorded answers.
  assert.deepEqual(differences, ${JSON.stringify(differences)})
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
