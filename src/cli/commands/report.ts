import { readFile, writeFile } from 'node:fs/promises'
import { differences } from '../../../mappings/differences.ts'
import { mappings } from '../../../mappings/index.ts'
import { TARGET } from '../../diff/evidence/cutover.ts'
import { readAssets } from '../../report/assets.ts'
import { describeWith } from '../../report/describe-difference.ts'
import { pageOf } from '../../report/html-page.ts'
import { readReport } from '../../report/read-records.ts'
import type { Report } from '../../report/report.ts'
import { reportLines } from '../../report/report-text.ts'
import { heldAgainst, readOlderReport } from '../../report/since-older.ts'
import { type Command, FAILED, type Flags, type Io, MISUSED, textOf } from '../command.ts'

/** Reports the state of a migration from the records of one or several proxies. */
export const report: Command = {
  usage: 'report FILE...',
  summary: 'Prints the state of every operation, from record files or folders of them. --html writes it as a page.',
  args: ['FILE'],
  more: true,
  flags: {
    html: { help: 'File to write the report to, as one self-contained page' },
    json: { help: 'Print one JSON object', switch: true },
    against: { help: 'Older report that --json wrote. Prints what changed since then' },
    target: { help: `Acceptable share of wrong answers, more than 0 and less than 1. Default: ${TARGET}` },
  },
  async run(flags, paths, io) {
    const target = Number(textOf(flags, 'target') ?? TARGET)
    if (!(target > 0 && target < 1)) {
      io.err(`--target is ${JSON.stringify(flags.target)}, but it must be a share between 0 and 1, such as 0.001.`)
      return MISUSED
    }
    const operations = mappings.flatMap((mapping) => mapping.operations)
    const made = await readReport(paths, {
      operations,
      declarations: differences,
      describe: describeWith(differences),
      target,
      now: Date.now(),
    })
    const held = await against(made, textOf(flags, 'against'))
    if ('problem' in held) {
      io.err(held.problem)
      return FAILED
    }
    await write(held, flags, io)
    return 0
  },
}

async function against(made: Report, path: string | undefined): Promise<Report | { readonly problem: string }> {
  if (path === undefined) return made
  const older = readOlderReport(await readFile(path, 'utf8'))
  return 'problem' in older ? { problem: `${path} cannot be held against: ${older.problem}.` } : heldAgainst(made, older)
}

async function write(made: Report, flags: Flags, io: Io): Promise<void> {
  const file = textOf(flags, 'html')
  if (file !== undefined) await writeFile(file, pageOf(made, readAssets()).html)
  if (flags.json) io.text(JSON.stringify(made))
  else for (const line of reportLines(made)) io.out(line)
  if (file !== undefined && !flags.json) io.out(`written to ${file}`)
}
