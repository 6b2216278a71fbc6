import { writeFile } from 'node:fs/promises'
import { describeWith } from '../../../admin/report/difference.ts'
import { heldAgainst, type Report, readOlderReport, readReport, reportLines } from '../../../admin/report/report.ts'
import { pageOf, readAssets } from '../../../admin/report-page.ts'
import { fileWithin } from '../../../files.ts'
import { TARGET } from '../../../migrate/evidence/cutover.ts'
import { operationsOf } from '../../../tables/tables.ts'
import { declarationsWith, wrongTermsOf } from '../../server/migration.ts'
import { type Command, endWith, FAILED, type Flags, failureLines, type Io, MISUSED, textOf, UNREAD } from '../command.ts'
import { configFlags, configOf, dismissalsIn, dismissFlag } from '../flags.ts'
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
    target: { help: `Acceptable share of wrong answers, more than 0 and less than 1. Default: ${TARGET}`, value: 'SHARE' },
    each: { help: 'Hold the target against each operation by itself. Default: against all requests together', switch: true },
    'without-v1': { help: 'Ask whether v1 can be switched off: what only v1 answers is then in the way', switch: true },
    ...dismissFlag,
    ...configFlags(['tables', 'diff.ignore', 'cutover.each', 'cutover.operations']),
  },
  async run(flags, paths, io) {
    const target = Number(textOf(flags, 'target') ?? TARGET)
    if (!(target > 0 && target < 1))
      return endWith(io, MISUSED, `--target is ${JSON.stringify(flags.target)}, but it must be a share between 0 and 1, such as 0.001.`)
    const tables = await io.tables()
    const config = configOf(flags, io)
    const unfit = wrongTermsOf(config, tables)
    if (unfit !== undefined) return endWith(io, MISUSED, unfit)
    const declared = declarationsWith(config['diff.ignore'], tables)
    if ('problem' in declared) return endWith(io, MISUSED, declared.problem)
    const question = {
      operations: operationsOf(tables),
      target,
      withoutV1: flags['without-v1'] === true,
      isStrict: flags.each === true,
      dismissed: dismissalsIn(flags),
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
