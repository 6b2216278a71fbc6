import { many } from '../../../migrate/evidence/evidence.ts'
import type { Tables } from '../../../tables/tables.ts'
import type { Contracts, Point } from '../../../tools/check-coverage.ts'
import { type CheckedTables, checkTables, isWell } from '../../../tools/check-tables.ts'
import { readDocument } from '../../../tools/contract.ts'
import { type Command, endWith, FAILED, type Flag, type Flags, MISUSED, textOf } from '../command.ts'
import { checkVariables, tablesAt } from '../flags.ts'
import { withProgress } from '../terminal.ts'

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
function checkedLines({ tables, found, hasContracts, isWhole }: Checked & { readonly isWhole: boolean }): readonly string[] {
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
function checkedJson({ tables, found, hasContracts }: Checked): string {
  const { wrong, undecided, points } = found
  const shown = points.map(({ side, part, at, operations, state, why }) => ({ side, part, at, operations, state, ...(why && { why }) }))
  return JSON.stringify({ tables: tables.name, ok: isWell(found), wrong, undecided, ...(hasContracts && { points: shown }) }, null, 2)
}

/** The flags of the commands that read the contracts of both versions. */
export const contractFlags: Readonly<Record<string, Flag>> = {
  v1: { help: 'OpenAPI document of the old version', value: 'FILE' },
  v2: { help: 'OpenAPI document of the new version', value: 'FILE' },
  'allow-refs': { help: 'Follow references to other hosts, and to files outside the folder of the document', switch: true },
}

/** Says what tables lack, alone and beside the contracts of both versions. */
export const check: Command = {
  usage: 'check [TABLES]',
  summary:
    'Says what the tables of a module lack: runs every check of the start, and compares them with the OpenAPI documents of both versions. Exit code 1 if something is wrong, undecided or not covered.',
  optional: ['TABLES'],
  flags: {
    ...contractFlags,
    all: { help: 'Print what is covered too', switch: true },
    json: { help: 'Print one JSON object', switch: true },
  },
  async run(flags, [path], io) {
    checkVariables(io)
    const [v1, v2] = [textOf(flags, 'v1'), textOf(flags, 'v2')]
    if ((v1 === undefined) !== (v2 === undefined))
      return endWith(io, MISUSED, 'check compares tables with the documents of both versions: --v1 FILE --v2 FILE.')
    const checked = await withProgress(io.screen, 'checking the tables', async () => {
      const tables = path === undefined ? await io.tables() : await tablesAt(path)
      const contracts = v1 === undefined || v2 === undefined ? undefined : await contractsAt(v1, v2, flags)
      for (const problem of contracts?.problems ?? []) io.err(problem)
      return { tables, hasContracts: contracts !== undefined, found: await checkTables(tables, contracts) }
    })
    if (flags.json) io.text(checkedJson(checked))
    else for (const line of checkedLines({ ...checked, isWhole: flags.all === true })) io.out(line)
    return isWell(checked.found) ? 0 : FAILED
  },
}

/** Reads both contracts. `problems` says what cannot be read of them. */
export async function contractsAt(v1: string, v2: string, flags: Flags): Promise<Contracts & { readonly problems: readonly string[] }> {
  const mayLeave = flags['allow-refs'] === true
  const [one, other] = await Promise.all([readDocument(v1, { mayLeave }), readDocument(v2, { mayLeave })])
  return { v1: one.contract, v2: other.contract, problems: [...one.problems, ...other.problems] }
}
