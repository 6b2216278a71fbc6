import type { Comparison } from '../../../migrate/records/record.ts'
import { readEntries } from '../../../migrate/records/record-file.ts'
import { oneLine } from '../../../tables/json.ts'
import { caseText } from '../../../tools/play-case.ts'
import { adminFlags, askAdmin } from '../admin-port.ts'
import { type Command, endWith, FAILED, type Flags, type Io, textOf, writeText } from '../command.ts'
import { withProgress } from '../terminal.ts'

/** Prints a recorded mismatch as a test that reproduces it. */
export const mismatchCase: Command = {
  usage: 'case ID',
  summary:
    'Prints a recorded mismatch as a test: crosswalk case ID > mismatch.test.mjs, then node --test mismatch.test.mjs in a folder where Crosswalk is installed.',
  args: ['ID'],
  flags: {
    records: { help: "Record file to search, instead of the running proxy's memory", value: 'FILE' },
    ...adminFlags,
  },
  async run(flags, [id = ''], io) {
    const found = await find(id, flags, io)
    if (!found) return endWith(io, FAILED, `There is no comparison ${id}; GET /comparisons of the admin port lists the last ones.`)
    const text = caseText(found)
    if (text !== undefined) return writeText(io, text, undefined)
    const why = 'cannot be played again: only confirmed mismatches are kept for that, and only small ones.'
    return endWith(io, FAILED, `Comparison ${id} (${found.outcome}) ${why}`)
  },
}

async function find(id: string, flags: Flags, io: Io): Promise<Comparison | undefined> {
  const file = textOf(flags, 'records')
  if (file === undefined) return (await askAdmin<readonly Comparison[]>('/comparisons?limit=10000', flags, io)).find((one) => one.id === id)
  return withProgress(io.screen, `reading ${oneLine(file)}`, () => inRecords(file, id))
}

async function inRecords(file: string, id: string): Promise<Comparison | undefined> {
  for await (const entry of readEntries(file)) if (entry.kind === 'comparison' && entry.id === id) return entry
  return undefined
}
