import { compatSettings } from '../../config/parts.ts'
import type { Config } from '../../config/settings.ts'
import { createKindOf } from '../../migrate/clients.ts'
import { createRedactionKey, createRedactor } from '../../migrate/compare/redact.ts'
import { clientGuide } from '../../tools/guide.ts'
import { replaySarif } from '../../tools/replay/against.ts'
import { recordedClients, replay as replayTraffic } from '../../tools/replay/replay.ts'
import { replayLines } from '../../tools/replay/summary.ts'
import { type Command, endWith, FAILED, type Flags, type Io, MISUSED, textOf } from '../command.ts'
import { configFlags, configFrom } from '../config-flags.ts'
import { chooseClient } from '../guide/choose-client.ts'
import { guideContext, guideFlags, guideMisuse, writeGuide } from '../guide/guide-output.ts'
import { topFlag, topOf } from '../lists/top.ts'
import { type GivenTraffic, givenTraffic, trafficFlags, writeSarif } from '../replay/given-traffic.ts'
import { sendReads } from '../replay/replay-against.ts'
import { oneLine } from '../terminal/printable.ts'
import { withProgress } from '../terminal/progress.ts'

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
    ...trafficFlags,
    guide: { help: 'Client in the file: print what it must change to call v2 itself, in Markdown', value: 'CLIENT' },
    ...guideFlags,
    rows: { help: `Rows that every list is assumed to hold. Default: ${ROWS}`, value: 'N' },
    against: {
      help: 'Address of a v1 service. Sends every different read there and to --upstream-v2, with the token in $TOKEN, and compares',
      value: 'URL',
    },
    max: { help: 'Maximum reads to send. Default: 200', value: 'N' },
    rate: { help: 'Maximum reads to send per second. Default: 5', value: 'N' },
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
    const loaded = configFrom(flags, io)
    const rows = Number(textOf(flags, 'rows') ?? ROWS)
    const problem = 'problem' in loaded ? loaded.problem : Number.isInteger(rows) && rows >= 0 && rows <= 100_000 ? undefined : WRONG_ROWS
    if (problem !== undefined || 'problem' in loaded) return endWith(io, MISUSED, problem ?? '')
    const limit = topOf(flags)
    const misuse = guideMisuse(flags) ?? ('problem' in limit ? limit.problem : undefined)
    if (misuse !== undefined) return endWith(io, MISUSED, misuse)
    const traffic = givenTraffic(path, flags, io)
    if ('problem' in traffic) return endWith(io, MISUSED, traffic.problem)
    const client = textOf(flags, 'guide')
    if (client !== undefined) return guide(traffic, client, loaded.config, flags, io)
    const against = textOf(flags, 'against')
    return against === undefined ? tell(traffic, rows, loaded.config, flags, io) : sendReads(traffic, against, loaded.config, flags, io)
  },
}

const WRONG_ROWS = '--rows must be a whole number from 0 to 100000.'

async function guide({ name, open }: GivenTraffic, id: string, config: Config, flags: Flags, io: Io): Promise<number> {
  const kindOf = createKindOf(createRedactor({ values: config['records.values'], key: createRedactionKey().text }))
  const tables = await io.tables()
  const clients = await withProgress(io.screen, `reading ${oneLine(name)}`, async () =>
    recordedClients(await open(), tables.mappings, kindOf),
  )
  const chosen = chooseClient(clients, id, `crosswalk replay ${name}`)
  if ('client' in chosen) return writeGuide(clientGuide(chosen.client, guideContext(config, tables)), flags, io)
  return endWith(io, FAILED, chosen.problem)
}

async function tell({ name, open }: GivenTraffic, rows: number, config: Config, flags: Flags, io: Io): Promise<number> {
  const limit = topOf(flags)
  const top = 'top' in limit ? limit.top : 0
  const tables = await io.tables()
  const seen = new Map(tables.differences.map((one) => [one.code, one.seen]))
  const seenOf = (code: string) => seen.get(code) ?? ''
  const replayed = await withProgress(io.screen, `reading ${oneLine(name)}`, async () =>
    replayTraffic(await open(), { tables, env: compatSettings(config), rows, seenOf }),
  )
  if (flags.json) io.text(JSON.stringify(replayed, null, 2))
  else for (const line of replayLines(replayed, top)) io.out(line)
  await writeSarif(flags, io, () => replaySarif(replayed, name))
  return 0
}
