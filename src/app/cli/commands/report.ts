import { writeFile } from 'node:fs/promises'
import { describeWith } from '../../../admin/report/difference.ts'
import { heldAgainst, type Report, readOlderReport, readReport, reportLines } from '../../../admin/report/report.ts'
import { pageOf, readAssets } from '../../../admin/report-page.ts'
import { fileWithin } from '../../../files.ts'
import { operationsOf } from '../../../tables/tables.ts'
import { declarationsWith, wrongTermsOf } from '../../server/migration.ts'
import { type Command, endWith, FAILED, type Flags, failureLines, type Io, MISUSED, textOf, UNREAD } from '../command.ts'
import { configFlags, configOf, questionOf, verdictFlags } from '../flags.ts'
import { withProgress } from '../terminal.ts'

/** Reports the state of a migration from the records of one or several proxies. */
export const report: Command = {
  usage: 'report FILE...',
  summary:
    'Prints the state of every operation, from record files or folders of them. Exits with 0 if ready, 1 if not, 3 if a file cannot be read.',
  args: ['FILE'],
  more: true,
  flags: {
    html: { help: 'File to write the report to, as one self-contained page', value: 'FILE' },
    json: { help: 'Print one JSON object', switch: true },
    against: { help: 'Older report that --json wrote. Prints what changed since then', value: 'FILE' },
    ...verdictFlags,
    ...configFlags(['tables', 'diff.ignore', 'cutover.each', 'cutover.operations']),
  },
  async run(flags, paths, io) {
    const asked = questionOf(flags)
    const tables = await io.tables()
    const config = configOf(flags, io)
    const unfit = wrongTermsOf(config, tables)
    if (unfit !== undefined) return endWith(io, MISUSED, unfit)
    const declared = declarationsWith(config['diff.ignore'], tables)
    if ('problem' in declared) return endWith(io, MISUSED, declared.problem)
    const question = {
      operations: operationsOf(tables),
      ...asked,
      terms: { each: config['cutover.each'], operations: config['cutover.operations'] },
      declarations: declared.declarations,
      names: config['clients.names'],
      describe: describeWith(declared.declarations),
      now: Date.now(),
    }
    const made = await orSaid(() => withProgress(io.screen, 'reading records', () => readReport(paths, question)), io)
    const held = made && (await against(made, textOf(flags, 'against'), io))
    if (!held) return UNREAD
    await write(held, flags, io)
    for (const path of held.read.unreadable) io.err(`${path} is not a record file: most of its lines are not records.`)
    if (held.read.unreadable.length > 0) return UNREAD
    return held.ready ? 0 : FAILED
  },
}

/** Says why something could not be read. */
async function orSaid<T>(reading: () => Promise<T>, io: Io): Promise<T | undefined> {
  try {
    return await reading()
  } catch (error) {
    for (const line of failureLines(error)) io.err(line)
    return undefined
  }
}

/** Bytes of an older report. One of all operations with 10,000 clients has some 3 MB. */
const MOST_BYTES = 64 * 2 ** 20

async function against(made: Report, path: string | undefined, io: Io): Promise<Report | undefined> {
  if (path === undefined) return made
  const text = await orSaid(() => fileWithin(path, MOST_BYTES), io)
  const older = text === undefined ? undefined : readOlderReport(text.toString())
  if (!older) return undefined
  if (!('problem' in older)) return heldAgainst(made, older)
  io.err(`${path} cannot be held against: ${older.problem}.`)
  return undefined
}

async function write(made: Report, flags: Flags, io: Io): Promise<void> {
  const file = textOf(flags, 'html')
  if (file !== undefined) await writeFile(file, pageOf(made, readAssets()).html)
  if (flags.json) io.text(JSON.stringify(made))
  else for (const line of reportLines(made)) io.out(line)
  if (file !== undefined && !flags.json) io.out(`written to ${file}`)
}
