import { many } from '../../migrate/evidence/evidence.ts'
import type { Tables } from '../../tables/tables.ts'
import type { Point } from '../../tools/check-coverage.ts'
import { type CheckedTables, isWell } from '../../tools/check-tables.ts'

interface Checked {
  readonly tables: Tables
  readonly found: CheckedTables
  /** The documents of both versions were given. */
  readonly hasContracts: boolean
}

const IN: Readonly<Record<Point['part'], string>> = { operation: '', parameter: '', request: ' in requests', answer: ' in answers' }

/** Operations that a line names before it counts the others. */
const NAMED = 2

/** One line for everything that is found; what is covered only if all is wanted. */
export function checkedLines({ tables, found, hasContracts, isWhole }: Checked & { readonly isWhole: boolean }): readonly string[] {
  const of = (state: Point['state']) => found.points.filter((point) => point.state === state)
  const acknowledged = of('acknowledged').map((point) => `acknowledged  ${nameOf(point)}: ${point.why}`)
  return [
    ...(isWhole ? of('covered').map((point) => `covered       ${nameOf(point)}`) : []),
    ...acknowledged,
    ...of('lacking').map((point) => `NOT COVERED   ${nameOf(point)}: ${point.why}${operationsText(point)}`),
    ...found.undecided.map((reason) => `TO DECIDE     ${reason}`),
    ...found.wrong.map((problem) => `WRONG         ${problem}`),
    ...hintLines(of('lacking')),
    ...(hasContracts ? [] : ['Members were not compared: give the OpenAPI documents of both versions with --v1 FILE --v2 FILE.']),
    `${tables.name}: ${totalsText(found, hasContracts)}`,
  ]
}

function nameOf({ side, at, part }: Point): string {
  return `${side} ${at}${IN[part]}`
}

function operationsText({ part, operations }: Point): string {
  if (part !== 'request' && part !== 'answer') return ''
  const others = operations.length - NAMED
  return ` (${operations.slice(0, NAMED).join(', ')}${others > 0 ? ` and ${many(others, 'other')}` : ''})`
}

/** Shows how the first of them is acknowledged. */
function hintLines([first]: readonly Point[]): readonly string[] {
  if (!first) return []
  return [`A row covers a place. What nobody needs is acknowledged: acknowledged: [{ ${first.side}: '${first.at}', reason: '…' }].`]
}

function totalsText({ points, undecided, wrong }: CheckedTables, hasContracts: boolean): string {
  const count = (state: Point['state']) => points.filter((point) => point.state === state).length
  const counted = [`${count('covered')} covered`, `${count('acknowledged')} acknowledged`, `${count('lacking')} not covered`]
  return [...(hasContracts ? counted : []), `${undecided.length} to decide`, `${wrong.length} wrong`].join(', ')
}

/** The same as JSON. */
export function checkedJson({ tables, found, hasContracts }: Checked): string {
  const { wrong, undecided, points } = found
  const shown = points.map(({ side, part, at, operations, state, why }) => ({ side, part, at, operations, state, ...(why && { why }) }))
  return JSON.stringify({ tables: tables.name, ok: isWell(found), wrong, undecided, ...(hasContracts && { points: shown }) }, null, 2)
}
