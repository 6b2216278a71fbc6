import { many, OBSERVATION, percent, wrongOf } from '../migrate/evidence/evidence.ts'
import { timeNeeded, uncomparedSentences } from '../migrate/evidence/standing.ts'
import { type Difference, isOfRequest, TO_MEND } from './difference.ts'
import type { DeclarationRow, OperationReport, ReadSummary, Report } from './report.ts'

/** Writes the report as lines for a terminal: the verdict, and one line for each operation and each difference to mend. */
export function reportLines({ operations, declarations, target, ready, read, against }: Report): readonly string[] {
  const inside = operations.filter(({ standing }) => standing === 'inside').length
  const width = Math.max(0, ...operations.map(({ operation }) => operation.length))
  const was = against ? `; the older report was ${against.ready ? 'ready' : 'not ready'}` : ''
  const gone = against?.gone ?? []
  return [
    `${ready ? 'READY' : 'NOT READY'}: ${inside} of ${operations.length} operations inside ${percent(target)}${was} (${read.entries} records${notRead(read)})`,
    ...operations.flatMap((one) => [
      rowOf(one, target, width),
      ...toMend(one),
      ...uncomparedSentences(one.uncompared).map((line) => `${INDENT}${line}`),
    ]),
    ...(operations.some(({ needed = 0 }) => needed > 0) ? [OBSERVATION] : []),
    ...declarations.flatMap(ignoredLine),
    ...gone.map(
      ({ operation, kind, where, code }) => `gone          ${operation}  ${kind} ${where}${code === undefined ? '' : ` (${code})`}`,
    ),
  ]
}

/** What the operator ignores, and whether it still explains anything. */
function ignoredLine({ code, state, findings, ignored }: DeclarationRow): readonly string[] {
  if (!ignored) return []
  const end = new Date(ignored.until).toISOString()
  return [`${(state === 'expired' ? 'expired' : 'ignored').padEnd(12)}  ${code}  ${findings}×  until ${end}: ${ignored.reason}`]
}

/** Under the name of an operation. */
const INDENT = ' '.repeat(14)

function notRead({ skipped, repeated }: ReadSummary): string {
  return `${skipped === 0 ? '' : `, ${many(skipped, 'line')} skipped`}${repeated === 0 ? '' : `, ${many(repeated, 'line')} repeated`}`
}

function rowOf(one: OperationReport, target: number, width: number): string {
  const { operation, standing, n, share, bound, needed, before } = one
  const was = before ? ` (was ${percent(before.bound)})` : ''
  const time = one.perDay === undefined ? '' : `, ${timeNeeded(one, target)}`
  const more = needed === undefined || needed === 0 ? '' : `  ${many(needed, 'observation')} to go${time}`
  const requests = share > 0 ? ` (${percent(share)} of the requests)` : ''
  const evidence = n === 0 ? '' : `  n ${n}  wrong ${wrongOf(one)}${requests}  bound ${percent(bound)}${was}`
  return `${standing.padEnd(12)}  ${operation.padEnd(width)}${evidence}${more}`.trimEnd()
}

function toMend({ differences }: OperationReport): readonly string[] {
  return differences
    .filter(({ state }) => TO_MEND.has(state))
    .flatMap((one) => [`${INDENT}${one.kind} ${one.where}  ${one.comparisons}×${one.isNew ? '  new' : ''}`, ...lastExample(one)])
}

/** The newest example: its request, its place, and the command that prints it as a test. Records of older versions have no request. */
function lastExample({ state, examples: [newest] }: Difference): readonly string[] {
  if (!newest?.request) return []
  const { request, pointer = '', id } = newest
  const command = state === 'unexplained' && isOfRequest(newest) ? `crosswalk case ${id}` : ''
  return [`${INDENT}  ${[`${request.method} ${request.url}`, pointer, command].filter((part) => part !== '').join('  ')}`]
}
