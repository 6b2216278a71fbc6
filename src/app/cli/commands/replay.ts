import { misuse } from '../../../errors.ts'
import { createKindOf } from '../../../migrate/clients.ts'
import type { Declaration } from '../../../migrate/compare/expected.ts'
import { createRedactionKey, createRedactor } from '../../../migrate/compare/redact.ts'
import { createJournal } from '../../../migrate/modes/journal.ts'
import { createAsk } from '../../../migrate/observe/compare-read.ts'
import { createRecorder, createRecordFile, RECORD_FILE } from '../../../migrate/records/record-file.ts'
import { createPool } from '../../../serve/upstream/exchange.ts'
import { createUnsharedReads } from '../../../serve/upstream/send.ts'
import { createReadV1 } from '../../../serve/upstream/v1.ts'
import { oneLine } from '../../../tables/json.ts'
import { operationsOf, type Tables } from '../../../tables/tables.ts'
import { clientGuide } from '../../../tools/guide.ts'
import {
  type Against,
  againstJunit,
  againstLines,
  againstSarif,
  isClean,
  replayAgainst,
  replaySarif,
  type SarifLog,
} from '../../../tools/replay/against.ts'
import { chosenReader } from '../../../tools/replay/formats.ts'
import { recordedClients, replay as replayTraffic } from '../../../tools/replay/replay.ts'
import { replayLines } from '../../../tools/replay/summary.ts'
import { readTraffic, type Traffic } from '../../../tools/replay/traffic.ts'
import { dialOf, readTls } from '../../config/certificates.ts'
import { compatSettings, poolSettings } from '../../config/config.ts'
import { url } from '../../config/kinds.ts'
import type { Config } from '../../config/settings.ts'
import { declarationsWith } from '../../server/migration.ts'
import { type Command, endWith, FAILED, type Flag, type Flags, type Io, print, textOf } from '../command.ts'
import { configFlags, configOf, junitFlag, topFlag, topOf, writeBeside, writeJunit } from '../flags.ts'
import { withProgress } from '../terminal.ts'
import { checkGuideFlags, chooseClient, guideContext, guideFlags, writeGuide } from './clients.ts'

export const formatFlags: Readonly<Record<string, Flag>> = {
  format: {
    help: 'Format of the lines: a name, or a log_format of nginx such as \'$remote_addr [$time_local] "$request" $status\'',
    value: 'NAME',
  },
  fields: {
    help: "Names of members in lines of JSON: 'method=req.method,path=req.url,status=res.status,time=time'",
    value: 'PAIRS',
  },
}

/** The flags that bound how much is sent. */
export const boundFlags: Readonly<Record<string, Flag>> = {
  max: { help: 'Maximum reads to send. Default: 200', value: 'N' },
  rate: { help: 'Maximum reads to send per second. Default: 5', value: 'N' },
}

type GivenTraffic = ReturnType<typeof givenTraffic>

/** Returns the traffic at a path, by the name that messages call it; `-` is standard input. Throws a misuse if the flags do not go together. */
export function givenTraffic(path: string, flags: Flags, io: Io) {
  const reader = chosenReader(textOf(flags, 'format'), textOf(flags, 'fields'))
  if (reader && 'problem' in reader) throw misuse(reader.problem)
  const name = path === '-' ? 'stdin' : path
  return { name, open: () => readTraffic(name, reader, path === '-' ? inputOf(io) : undefined) }
}

async function* inputOf({ input, stdin }: Io): AsyncGenerator<Uint8Array> {
  if (input) yield* input
  else yield Buffer.from(await stdin())
}

/** Writes the findings if `--sarif` asks for them. */
function writeSarif(flags: Flags, io: Io, findings: () => SarifLog): Promise<void> {
  return writeBeside('sarif', flags, io, () => `${JSON.stringify(findings(), null, 2)}\n`)
}

/** Sends the reads of recorded traffic to both sides. Exit code 0: at least one was compared and none differed. */
async function sendReads({ name, open }: GivenTraffic, v1: string, config: Config, flags: Flags, io: Io): Promise<number> {
  const target = targetOf(v1, config, flags, io)
  const traffic = await withProgress(io.screen, `reading ${oneLine(name)}`, open)
  if (traffic.format === 'records')
    return endWith(io, FAILED, `${name} holds records, which keep no values: they can be told, but not sent again.`)
  const tables = await io.tables()
  const declared = declarationsWith(config['diff.ignore'], tables)
  if ('problem' in declared) throw misuse(declared.problem)
  const against = await withProgress(io.screen, `sending reads of ${oneLine(name)}`, () =>
    compare(traffic, target, tables, declared.declarations, config, flags, io),
  )
  print(io, flags, against, () => againstLines(against))
  await writeSarif(flags, io, () => againstSarif(against, name))
  await writeJunit(flags, io, 'crosswalk replay', () => againstJunit(against))
  return isClean(against) ? 0 : FAILED
}

/** Reads `--max` and `--rate`. Throws a misuse if one is wrong. */
export function boundsOf(flags: Flags) {
  const most = Number(textOf(flags, 'max') ?? 200)
  const perSecond = Number(textOf(flags, 'rate') ?? 5)
  if (!(Number.isInteger(most) && most > 0)) throw misuse('--max must be a whole number above 0.')
  if (!(perSecond > 0 && perSecond <= 1000)) throw misuse('--rate must be a number above 0 and up to 1000.')
  return { most, perSecond }
}

function targetOf(given: string, config: Config, flags: Flags, io: Io) {
  const v1 = url.schema.safeParse(given)
  const v2 = config['upstream.v2']
  const { TOKEN: token } = io.env
  if (!v1.success || v1.data === undefined) throw misuse(`--against must be ${url.allowed}.`)
  if (v2 === undefined) throw misuse('upstream.v2 is not set: give the v2 service to compare with, with --upstream-v2.')
  if (!token) throw misuse(NO_TOKEN)
  return { v1: v1.data, v2, token, ...boundsOf(flags) }
}

async function compare(
  traffic: Traffic,
  target: ReturnType<typeof targetOf>,
  tables: Tables,
  declarations: readonly Declaration[],
  config: Config,
  flags: Flags,
  io: Io,
): Promise<Against> {
  const asked = { ...config, 'upstream.v1': target.v1 }
  const pool = createPool({ ...poolSettings(config), dial: dialOf(asked, readTls(asked)) })
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
    live: { probePercent: 0 },
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

export const NO_TOKEN = 'TOKEN is not set: put the bearer token to read with into the environment, not on the command line.'

/** Assumed number of rows in a list. */
const ROWS = 50

/** Rehearses the migration with recorded traffic. */
export const replay: Command = {
  usage: 'replay FILE',
  summary:
    'Prints the coverage and the cost of recorded traffic: logs of proxies, HAR, records. - reads standard input. --against sends its reads.',
  args: ['FILE'],
  flags: {
    json: { help: 'Print one JSON object', switch: true },
    ...topFlag,
    ...formatFlags,
    sarif: { help: 'File to write the findings to, as SARIF 2.1.0 for code hosts', value: 'FILE' },
    junit: { ...junitFlag.junit, help: `With --against: ${junitFlag.junit.help}` },
    guide: { help: 'Client in the file: print what it must change to call v2 itself, in Markdown', value: 'CLIENT' },
    ...guideFlags,
    rows: { help: `Rows that every list is assumed to hold. Default: ${ROWS}`, value: 'N' },
    against: {
      help: 'Address of a v1 service. Sends every different read there and to --upstream-v2, with the token in $TOKEN, and compares',
      value: 'URL',
    },
    ...boundFlags,
    records: { help: 'File to append the comparisons to, for crosswalk report', value: 'FILE' },
    ...configFlags([
      'tables',
      'upstream.v2',
      'v1.dialect',
      'v2.maskCase',
      'v2.replaceMask',
      'registry.readmes',
      'records.values',
      'diff.ignore',
    ]),
  },
  async run(flags, [path = ''], io) {
    const config = configOf(flags, io)
    const rows = Number(textOf(flags, 'rows') ?? ROWS)
    if (!(Number.isInteger(rows) && rows >= 0 && rows <= 100_000)) throw misuse('--rows must be a whole number from 0 to 100000.')
    checkGuideFlags(flags)
    const top = topOf(flags)
    const against = textOf(flags, 'against')
    if (flags.junit !== undefined && against === undefined) throw misuse('--junit needs --against: without it, nothing is compared.')
    const traffic = givenTraffic(path, flags, io)
    const client = textOf(flags, 'guide')
    if (client !== undefined) return guide(traffic, client, config, flags, io)
    return against === undefined ? tell(traffic, rows, top, config, flags, io) : sendReads(traffic, against, config, flags, io)
  },
}

async function guide({ name, open }: GivenTraffic, id: string, config: Config, flags: Flags, io: Io): Promise<number> {
  const kindOf = createKindOf(createRedactor({ values: config['records.values'], key: createRedactionKey().text }))
  const tables = await io.tables()
  const clients = await withProgress(io.screen, `reading ${oneLine(name)}`, async () =>
    recordedClients(await open(), tables.mappings, kindOf),
  )
  const client = chooseClient(clients, id, `crosswalk replay ${name}`)
  return writeGuide(clientGuide(client, guideContext(config, tables)), flags, io)
}

async function tell({ name, open }: GivenTraffic, rows: number, top: number, config: Config, flags: Flags, io: Io): Promise<number> {
  const tables = await io.tables()
  const replayed = await withProgress(io.screen, `reading ${oneLine(name)}`, async () =>
    replayTraffic(await open(), tables, compatSettings(config), rows),
  )
  print(io, flags, replayed, () => replayLines(replayed, top))
  await writeSarif(flags, io, () => replaySarif(replayed, name))
  return 0
}
