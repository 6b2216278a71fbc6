import { describeOperations, type OperationRow } from '../../explain/operation-rows.ts'
import type { Command } from '../command.ts'
import { tablesFlag } from '../config-flags.ts'

/** Lists the operations and how each is served. */
export const operations: Command = {
  usage: 'operations',
  summary: 'Lists every v1 operation with its kind, its v2 calls and the codes of its differences.',
  flags: { ...tablesFlag, json: { help: 'Print one JSON array', switch: true } },
  async run(flags, _, io) {
    const rows = describeOperations(await io.tables())
    if (flags.json) io.text(JSON.stringify(rows, null, 2))
    else for (const line of rows.flatMap(linesOf)) io.out(line)
    return 0
  },
}

function linesOf({ id, kind, method, path, calls, differences, because }: OperationRow): string[] {
  return [
    `${id}  ${kind}`,
    `  v1  ${method} ${path}`,
    ...calls.map((call) => `  v2  ${call}`),
    ...(because === undefined ? [] : [`  because ${because}`]),
    ...(differences.length === 0 ? [] : [`  differences ${differences.join(', ')}`]),
  ]
}
