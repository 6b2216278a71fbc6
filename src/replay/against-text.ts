import type { ComparisonOutcome } from '../migrate/compare/judge.ts'
import type { Against, AgainstRow } from './against.ts'

const LEFT: Readonly<Record<keyof Against['left'], string>> = {
  writes: 'writes, which are never sent',
  forms: 'reads written as a form',
  repeated: 'repeated reads',
  pageTokens: 'pages behind a page token, which only one side knows',
  v1Only: 'v1-only requests',
  other: 'requests that are not v1, or that v1 does not know',
  beyond: 'further reads; raise --max to send them',
}

const ORDER: readonly ComparisonOutcome[] = ['mismatch', 'transient', 'error', 'inconclusive', 'race', 'noise', 'expected', 'match']

/** Writes the answers of both sides as lines for a terminal: the sums, and everything that was not equal. */
export function againstLines({ rows, left }: Against): readonly string[] {
  const of = (outcome: ComparisonOutcome) => rows.filter((row) => row.outcome === outcome)
  const sums = ORDER.map((outcome) => `${of(outcome).length} ${outcome}`).join(', ')
  const skipped = (Object.entries(left) as [keyof Against['left'], number][]).filter(([, n]) => n > 0)
  return [
    `${rows.length} reads sent to both sides: ${sums}`,
    ...skipped.map(([name, n]) => `  not sent: ${n} ${LEFT[name]}`),
    ...ORDER.filter((outcome) => outcome !== 'match').flatMap((outcome) => of(outcome).map(lineOf)),
  ]
}

function lineOf({ shape, outcome, reason, differences, v1, v2 }: AgainstRow): string {
  const what = differences.length > 0 ? differences.join(', ') : (reason ?? '')
  return `${outcome}  ${shape}  HTTP ${v1} and ${v2}  ${what}`
}

/** True if something was compared and nothing was wrong. */
export function isClean({ rows }: Against): boolean {
  return (
    rows.some(({ outcome }) => outcome === 'match' || outcome === 'expected' || outcome === 'noise') &&
    rows.every(({ outcome }) => !WRONG.has(outcome))
  )
}

const WRONG: ReadonlySet<ComparisonOutcome> = new Set<ComparisonOutcome>(['mismatch', 'transient', 'error'])
