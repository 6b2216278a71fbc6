import { oneLine } from '../../../tables/json.ts'
import { draftTables } from '../../../tools/draft.ts'
import { type Command, endWith, MISUSED, textOf, writeText } from '../command.ts'
import { checkVariables } from '../flags.ts'
import { withProgress } from '../terminal.ts'
import { contractFlags, contractsAt } from './check.ts'

/** Writes a first table of two contracts. */
export const draft: Command = {
  usage: 'draft --v1 FILE --v2 FILE',
  summary: 'Writes a first table from the OpenAPI documents of two versions of an API, and lists what a person must decide.',
  flags: {
    ...contractFlags,
    name: { help: 'Name of the API in ids of operations: letters and digits. Default: api', value: 'NAME' },
    out: { help: 'File to write the table to: TypeScript, or JavaScript if its name ends in .js or .mjs', value: 'FILE' },
  },
  async run(flags, _, io) {
    checkVariables(io)
    const [v1, v2, name = 'api', out] = [textOf(flags, 'v1'), textOf(flags, 'v2'), textOf(flags, 'name'), textOf(flags, 'out')]
    if (v1 === undefined || v2 === undefined) return endWith(io, MISUSED, 'draft needs two OpenAPI documents: --v1 FILE --v2 FILE.')
    if (!/^[a-z][a-zA-Z0-9]*$/.test(name))
      return endWith(io, MISUSED, `name is "${name}", but it must be letters and digits such as "shop".`)
    const contracts = await withProgress(io.screen, `reading ${oneLine(v1)} and ${oneLine(v2)}`, () => contractsAt(v1, v2, flags))
    for (const problem of contracts.problems) io.err(problem)
    const { text, decisions } = draftTables(contracts.v1, contracts.v2, name, !/\.m?js$/.test(out ?? ''))
    const code = await writeText(io, text, out)
    if (out !== undefined) for (const decision of decisions) io.out(`to decide: ${decision}`)
    return code
  },
}
