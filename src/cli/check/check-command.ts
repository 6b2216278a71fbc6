import { unknownVariables } from '../../config/names/known-variables.ts'
import { misuse } from '../../errors.ts'
import { loadTables } from '../../server/tables/load-tables.ts'
import type { Tables } from '../../tables/tables.ts'
import type { Contracts } from '../../tools/check-coverage.ts'
import { checkTables, isWell } from '../../tools/check-tables.ts'
import { readDocument } from '../../tools/contract.ts'
import { type Command, endWith, FAILED, type Io, MISUSED, textOf } from '../command.ts'
import { withProgress } from '../terminal/progress.ts'
import { checkedJson, checkedLines } from './checked-text.ts'

/** Says what tables lack, alone and beside the contracts of both versions. */
export const check: Command = {
  usage: 'check [TABLES]',
  summary:
    'Says what the tables of a module lack: runs every check of the start, and compares them with the OpenAPI documents of both versions. Exit code 1 if something is wrong, undecided or not covered.',
  optional: ['TABLES'],
  flags: {
    v1: { help: 'OpenAPI document of the old version', value: 'FILE' },
    v2: { help: 'OpenAPI document of the new version', value: 'FILE' },
    all: { help: 'Print what is covered too', switch: true },
    json: { help: 'Print one JSON object', switch: true },
  },
  async run(flags, [path], io) {
    const [unknown] = unknownVariables(io.env)
    if (unknown !== undefined) return endWith(io, MISUSED, unknown)
    const [v1, v2] = [textOf(flags, 'v1'), textOf(flags, 'v2')]
    if ((v1 === undefined) !== (v2 === undefined))
      return endWith(io, MISUSED, 'check compares tables with the documents of both versions: --v1 FILE --v2 FILE.')
    const checked = await withProgress(io.screen, 'checking the tables', async () => {
      const tables = path === undefined ? await io.tables() : await tablesAt(path)
      const contracts = v1 === undefined || v2 === undefined ? undefined : await contractsAt(v1, v2, io)
      return { tables, hasContracts: contracts !== undefined, found: await checkTables(tables, contracts) }
    })
    if (flags.json) io.text(checkedJson(checked))
    else for (const line of checkedLines({ ...checked, isWhole: flags.all === true })) io.out(line)
    return isWell(checked.found) ? 0 : FAILED
  },
}

async function tablesAt(path: string): Promise<Tables> {
  try {
    return await loadTables(path)
  } catch (error) {
    throw misuse((error as Error).message)
  }
}

async function contractsAt(v1: string, v2: string, io: Io): Promise<Contracts> {
  const [one, other] = await Promise.all([readDocument(v1), readDocument(v2)])
  for (const problem of [...one.problems, ...other.problems]) io.err(problem)
  return { v1: one.contract, v2: other.contract }
}
