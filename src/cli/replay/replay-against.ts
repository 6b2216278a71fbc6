import { url } from '../../config/kinds.ts'
import { compatSettings, poolSettings } from '../../config/parts.ts'
import type { Config } from '../../config/settings.ts'
import type { Declaration } from '../../migrate/compare/expected.ts'
import { createJournal } from '../../migrate/modes/journal.ts'
import { createAsk } from '../../migrate/observe/compare-read.ts'
import { createRecorder, createRecordFile, RECORD_FILE } from '../../migrate/records/record-file.ts'
import { createPool } from '../../serve/upstream/exchange.ts'
import { createUnsharedReads } from '../../serve/upstream/send.ts'
import { createReadV1 } from '../../serve/upstream/v1.ts'
import { declarationsWith } from '../../server/declarations.ts'
import { operationsOf, type Tables } from '../../tables/tables.ts'
import { type Against, againstLines, againstSarif, isClean, replayAgainst } from '../../tools/replay/against.ts'
import type { Traffic } from '../../tools/replay/traffic.ts'
import { endWith, FAILED, type Flags, type Io, MISUSED, textOf } from '../command.ts'
import { oneLine } from '../terminal/printable.ts'
import { withProgress } from '../terminal/progress.ts'
import { type GivenTraffic, writeSarif } from './given-traffic.ts'

interface Target {
  readonly v1: string
  readonly v2: string
  readonly token: string
  readonly most: number
  readonly perSecond: number
}

/** Sends the reads of recorded traffic to both sides. Exit code 0: at least one was compared and none differed. */
export async function sendReads({ name, open }: GivenTraffic, v1: string, config: Config, flags: Flags, io: Io): Promise<number> {
  const target = targetOf(v1, config, flags, io)
  if ('problem' in target) return endWith(io, MISUSED, target.problem)
  const traffic = await withProgress(io.screen, `reading ${oneLine(name)}`, open)
  if (traffic.format === 'records')
    return endWith(io, FAILED, `${name} holds records, which keep no values: they can be told, but not sent again.`)
  const tables = await io.tables()
  const declared = declarationsWith(config['diff.ignore'], tables)
  if ('problem' in declared) return endWith(io, MISUSED, declared.problem)
  const sources = { ...target, tables, declarations: declared.declarations }
  const against = await withProgress(io.screen, `sending reads of ${oneLine(name)}`, () => compare(traffic, sources, config, flags, io))
  if (flags.json) io.text(JSON.stringify(against, null, 2))
  else for (const line of againstLines(against)) io.out(line)
  await writeSarif(flags, io, () => againstSarif(against, name))
  return isClean(against) ? 0 : FAILED
}

function targetOf(given: string, config: Config, flags: Flags, io: Io): Target | { readonly problem: string } {
  const v1 = url.schema.safeParse(given)
  const v2 = config['upstream.v2']
  const { TOKEN: token } = io.env
  const most = Number(textOf(flags, 'max') ?? 200)
  const perSecond = Number(textOf(flags, 'rate') ?? 5)
  if (!v1.success || v1.data === undefined) return { problem: `--against must be ${url.allowed}.` }
  if (v2 === undefined) return { problem: 'upstream.v2 is not set: give the v2 service to compare with, with --upstream-v2.' }
  if (!token) return { problem: 'TOKEN is not set: put the bearer token to read with into the environment, not on the command line.' }
  if (!(Number.isInteger(most) && most > 0)) return { problem: '--max must be a whole number above 0.' }
  if (!(perSecond > 0 && perSecond <= 1000)) return { problem: '--rate must be a number above 0 and up to 1000.' }
  return { v1: v1.data, v2, token, most, perSecond }
}

interface Comparing extends Target {
  readonly tables: Tables
  readonly declarations: readonly Declaration[]
}

async function compare(
  traffic: Traffic,
  { tables, declarations, ...target }: Comparing,
  config: Config,
  flags: Flags,
  io: Io,
): Promise<Against> {
  const pool = createPool(poolSettings(config))
  const file = textOf(flags, 'records')
  const recorder = createRecorder({
    memory: 1,
    ...(file !== undefined && { file: createRecordFile({ ...RECORD_FILE, path: file }) }),
  })
  const journal = createJournal({
    operations: operationsOf(tables),
    declarations,
    dialect: config['v1.dialect'],
    values: config['records.values'],
    subjects: false,
    recorder,
    now: Date.now,
    isProbed: () => false,
  })
  const answerMs = config['limits.deadlineMs']
  const ask = createAsk({
    readV1: createReadV1({ pool, base: target.v1, answerMs }),
    unsharedReads: createUnsharedReads({ pool, base: target.v2, answerBytes: config['limits.answerBytes'], errors: tables.errors }),
    translate: compatSettings(config, tables),
    deadlineMs: answerMs,
    limit: config['diff.answerBytes'],
  })
  const stop = new AbortController()
  void io.untilStopped().then(() => stop.abort())
  try {
    return await replayAgainst(traffic, { ...target, mappings: tables.mappings, ask, journal, signal: stop.signal })
  } finally {
    await recorder.close()
    const problem = recorder.problem()
    if (problem !== undefined) io.err(`The records were not written: ${problem}.`)
    await pool.destroy()
  }
}
