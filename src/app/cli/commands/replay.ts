import { writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, createKindOf, type RequestKind } from '../../../migrate/clients.ts'
import type { Declaration } from '../../../migrate/compare/expected.ts'
import { createRedactionKey, createRedactor } from '../../../migrate/compare/redact.ts'
import { judgeCutover, TARGET } from '../../../migrate/evidence/cutover.ts'
import { count, many, noEvidence } from '../../../migrate/evidence/evidence.ts'
import { askedOf, missingKinds } from '../../../migrate/evidence/kinds.ts'
import { joinReplicas } from '../../../migrate/evidence/replicas.ts'
import { shapeOf } from '../../../migrate/evidence/standing.ts'
import { USUAL_TERMS } from '../../../migrate/evidence/terms.ts'
import { createJournal } from '../../../migrate/modes/journal.ts'
import { pageTokenOf } from '../../../migrate/modes/select.ts'
import { createAsk } from '../../../migrate/observe/compare-read.ts'
import type { Rehearsed } from '../../../migrate/observe/observer.ts'
import { createRecorder, createRecordFile, RECORD_FILE } from '../../../migrate/records/record-file.ts'
import { createPool } from '../../../serve/upstream/exchange.ts'
import { createUnsharedReads } from '../../../serve/upstream/send.ts'
import { createReadV1 } from '../../../serve/upstream/v1.ts'
import { oneLine } from '../../../tables/json.ts'
import type { Operation } from '../../../tables/operation.ts'
import { operationsOf, type Tables } from '../../../tables/tables.ts'
import { clientGuide } from '../../../tools/guide.ts'
import { sampleRequest, v1Text } from '../../../tools/guide-request.ts'
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
import { createRouteRecorded, recordedClients, replay as replayTraffic } from '../../../tools/replay/replay.ts'
import { replayLines } from '../../../tools/replay/summary.ts'
import { readTraffic, type Traffic } from '../../../tools/replay/traffic.ts'
import { dialOf, readTls } from '../../config/certificates.ts'
import { compatSettings, poolSettings } from '../../config/config.ts'
import { url } from '../../config/kinds.ts'
import type { Config } from '../../config/settings.ts'
import { declarationsWith } from '../../server/migration.ts'
import { type AskedReplica, adminFlags, askClients, askReplicas, orderAdmin } from '../admin-port.ts'
import { type Command, endWith, FAILED, type Flag, type Flags, type Io, MISUSED, textOf } from '../command.ts'
import { configFlags, configFrom, junitFlag, tablesFlag, topFlag, topOf, writeJunit } from '../flags.ts'
import { withProgress } from '../terminal.ts'
import { chooseClient, guideContext, guideFlags, guideMisuse, writeGuide } from './clients.ts'

const formatFlags: Readonly<Record<string, Flag>> = {
  format: {
    help: 'Format of the lines: a name, or a log_format of nginx such as \'$remote_addr [$time_local] "$request" $status\'',
    value: 'NAME',
  },
  fields: {
    help: "Names of members in lines of JSON: 'method=req.method,path=req.url,status=res.status,time=time'",
    value: 'PAIRS',
  },
}

/** The flags that say how traffic is read, and where its findings are written to. */
export const trafficFlags: Readonly<Record<string, Flag>> = {
  ...formatFlags,
  sarif: { help: 'File to write the findings to, as SARIF 2.1.0 for code hosts', value: 'FILE' },
}

/** Recorded traffic that the command line names. */
export interface GivenTraffic {
  /** As messages and findings call it. */
  readonly name: string
  open(): Promise<Traffic>
}

/** Returns the traffic at a path; `-` is standard input. Returns a sentence if the flags do not go together. */
export function givenTraffic(path: string, flags: Flags, io: Io): GivenTraffic | { readonly problem: string } {
  const reader = chosenReader(textOf(flags, 'format'), textOf(flags, 'fields'))
  if (reader && 'problem' in reader) return reader
  const name = path === '-' ? 'stdin' : path
  return { name, open: () => readTraffic(name, reader, path === '-' ? inputOf(io) : undefined) }
}

async function* inputOf({ input, stdin }: Io): AsyncGenerator<Uint8Array> {
  if (input) yield* input
  else yield Buffer.from(await stdin())
}

/** Writes the findings if `--sarif` asks for them. */
export async function writeSarif(flags: Flags, io: Io, findings: () => SarifLog): Promise<void> {
  const file = textOf(flags, 'sarif')
  if (file === undefined) return
  await writeFile(file, `${JSON.stringify(findings(), null, 2)}\n`)
  if (!flags.json) io.out(`written to ${file}`)
}

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
  await writeJunit(flags, io, 'crosswalk replay', () => againstJunit(against))
  return isClean(against) ? 0 : FAILED
}

/** Reads `--max` and `--rate`. */
function boundsOf(flags: Flags): Pick<Target, 'most' | 'perSecond'> | { readonly problem: string } {
  const most = Number(textOf(flags, 'max') ?? 200)
  const perSecond = Number(textOf(flags, 'rate') ?? 5)
  if (!(Number.isInteger(most) && most > 0)) return { problem: '--max must be a whole number above 0.' }
  if (!(perSecond > 0 && perSecond <= 1000)) return { problem: '--rate must be a number above 0 and up to 1000.' }
  return { most, perSecond }
}

function targetOf(given: string, config: Config, flags: Flags, io: Io): Target | { readonly problem: string } {
  const v1 = url.schema.safeParse(given)
  const v2 = config['upstream.v2']
  const { TOKEN: token } = io.env
  const bounds = boundsOf(flags)
  if (!v1.success || v1.data === undefined) return { problem: `--against must be ${url.allowed}.` }
  if (v2 === undefined) return { problem: 'upstream.v2 is not set: give the v2 service to compare with, with --upstream-v2.' }
  if (!token) return { problem: NO_TOKEN }
  if ('problem' in bounds) return bounds
  return { v1: v1.data, v2, token, ...bounds }
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

/** A read to rehearse, and how often. */
interface Play {
  readonly operation: string
  readonly kind: string
  readonly shape: string
  readonly times: number
  /** Different requests of the kind, as far as they are known. */
  readonly urls: string[]
}

/** Different requests of one kind that are played. */
const MOST_URLS = 3

/** Has the reads asked that the verdict of a running proxy lacks. No write is ever sent. */
export const rehearse: Command = {
  usage: 'rehearse [FILE]',
  summary:
    'Has a running proxy ask both sides for the reads that cutover lacks, with the token in $TOKEN: those that it remembers, or those of a log.',
  optional: ['FILE'],
  flags: {
    'dry-run': { help: 'Print the reads, and send none', switch: true },
    max: { help: 'Maximum reads to send. Default: 200', value: 'N' },
    rate: { help: 'Maximum reads to send per second. Default: 5', value: 'N' },
    json: { help: 'Print one JSON object', switch: true },
    ...formatFlags,
    ...tablesFlag,
    ...adminFlags,
  },
  async run(flags, [file], io) {
    const bounds = boundsOf(flags)
    if ('problem' in bounds) return endWith(io, MISUSED, bounds.problem)
    const { TOKEN: token } = io.env
    if (!token && !flags['dry-run']) return endWith(io, MISUSED, NO_TOKEN)
    const traffic = file === undefined ? undefined : givenTraffic(file, flags, io)
    if (traffic && 'problem' in traffic) return endWith(io, MISUSED, traffic.problem)
    const tables = await io.tables()
    const admin = textOf(flags, 'admin')
    const reading = { ...flags, ...(admin !== undefined && { admin: [admin] }) }
    const [asked] = await askReplicas(reading, io)
    if (!asked?.replica) return endWith(io, FAILED, asked?.problem ?? '')
    const clients = await askClients(reading, io)
    if ('problem' in clients) return endWith(io, FAILED, clients.problem)
    const plays = missingReads(asked, clients, tables)
    if (traffic) await addRecorded(plays, await withProgress(io.screen, `reading ${oneLine(traffic.name)}`, traffic.open), tables)
    const unknown = plays.filter(({ urls }) => urls.length === 0)
    const chosen = plays.flatMap(({ urls, times }) =>
      Array.from(urls.length > 0 ? Array(times) : [], (_, nth) => urls[nth % urls.length] ?? ''),
    )
    const urls = chosen.slice(0, bounds.most)
    const post = (url: string) => orderAdmin<Rehearsed>('/rehearsals', flags, io, { url, token })
    const sent = flags['dry-run'] ? urls.map((url) => ({ url })) : await playAll(urls, bounds.perSecond, post)
    const told = {
      lacking: plays.length,
      sent,
      unknown: unknown.map(({ operation, kind }) => ({ operation, kind })),
      beyond: chosen.length - urls.length,
    }
    if (flags.json) io.text(JSON.stringify(told, null, 2))
    else for (const line of rehearsalLines(told)) io.out(line)
    return sent.every(isPlayedWell) && unknown.length + told.beyond === 0 ? 0 : FAILED
  },
}

const NO_TOKEN = 'TOKEN is not set: put the bearer token to read with into the environment, not on the command line.'

/** A read that was sent; without an answer, it only would be. */
interface Sent extends Partial<Rehearsed> {
  readonly url: string
  readonly problem?: string
}

function isPlayedWell({ outcome, problem }: Sent): boolean {
  return problem === undefined && (outcome === undefined || ['match', 'expected', 'noise'].includes(outcome))
}

/** Sends one after the other, and ends with the first that the admin port refuses. */
async function playAll(
  urls: readonly string[],
  perSecond: number,
  post: (url: string) => Promise<Rehearsed | { readonly problem: string }>,
) {
  const sent: Sent[] = []
  const began = performance.now()
  for (const [nth, url] of urls.entries()) {
    const due = began + (1000 * nth) / perSecond - performance.now()
    if (due > 0) await wait(due)
    const answer = await post(url)
    sent.push({ url, ...answer })
    if ('problem' in answer) break
  }
  return sent
}

/** Returns the kinds of reads that are blind spots, with the requests that the proxy remembers of them. */
function missingReads({ replica, terms = USUAL_TERMS }: AskedReplica, clients: readonly Client[], tables: Tables): Play[] {
  const operations = operationsOf(tables)
  const known = joinReplicas(replica ? [replica] : [])
  const { openCircuits, rollouts, ...seen } = known
  const verdict = judgeCutover({
    ...seen,
    openCircuits,
    rollouts,
    operations,
    target: TARGET,
    withoutV1: false,
    terms: { ...terms, now: Date.now() },
  })
  const asked = askedOf(known.clients)
  return verdict.operations.flatMap(({ operation: id, canRehearse, evidence }) => {
    const operation = operations.find((one) => one.id === id)
    if (!canRehearse || !operation) return []
    const missing = missingKinds(evidence ?? noEvidence(id), asked.get(id), terms.each)
    const requests = clients.flatMap(({ operations: uses }) => uses.find((use) => use.operation === id)?.requests ?? [])
    return missing.map(({ kind, same }) => {
      const shape = kind === '' ? id : `${id}?${kind}`
      const urls = requests.flatMap((request) => (request.shape === shape ? (urlOf(operation, request) ?? []) : []))
      return { operation: id, kind, shape, times: Math.max(1, terms.each - same), urls: [...new Set(urls)].slice(0, MOST_URLS) }
    })
  })
}

/** Returns the URL of a request of which every value was kept. */
function urlOf(operation: Operation, { path, query, members, unknown }: RequestKind): string | undefined {
  const isWhole = [...path, ...query].every(([, value]) => value !== undefined) && members === undefined && unknown === undefined
  return isWhole ? v1Text(operation, sampleRequest(operation, { path, query })).slice('GET '.length) : undefined
}

/** Adds the requests of recorded traffic to the kinds that lack them. */
async function addRecorded(plays: readonly Play[], { items }: Traffic, { mappings }: Tables): Promise<void> {
  const placeOf = createRouteRecorded(mappings)
  const byShape = new Map(plays.map((one) => [one.shape, one]))
  for await (const item of items) {
    const place = 'url' in item && item.method === 'GET' ? placeOf(item) : undefined
    if (place?.kind !== 'operation' || !('url' in item) || pageTokenOf(place.operation, item.url) !== undefined) continue
    const urls = byShape.get(shapeOf(place.operation, place.request))?.urls
    if (urls && urls.length < MOST_URLS && !urls.includes(item.url)) urls.push(item.url)
  }
}

interface Rehearsal {
  /** Kinds of reads that the verdict lacks. */
  readonly lacking: number
  readonly sent: readonly Sent[]
  /** Kinds of which no request is known with all its values. */
  readonly unknown: readonly { readonly operation: string; readonly kind: string }[]
  /** Reads beyond the maximum. */
  readonly beyond: number
}

function rehearsalLines({ lacking, sent, unknown, beyond }: Rehearsal): readonly string[] {
  if (lacking === 0) return ['No read is missing: nothing was sent.']
  const isDry = sent.length > 0 && sent.every(({ outcome, problem }) => outcome === undefined && problem === undefined)
  const outcomes = sent.map(({ outcome = 'not sent' }) => outcome)
  const sums = [...new Set(outcomes)].map((one) => `${count(outcomes.filter((other) => other === one).length)} ${one}`).join(', ')
  const wrong = sent.filter((one) => !isPlayedWell(one))
  return [
    `${many(lacking, 'kind')} of reads lack${lacking === 1 ? 's' : ''} answers; ${many(sent.length, 'read')}${isDry ? ' to send' : sums && `: ${sums}`}`,
    ...sent.flatMap(({ url, outcome }) => (outcome === undefined ? [`  ${url}`] : [])),
    ...wrong.map(({ url, outcome, problem, differences = [], reason = '', v1, v2 }) =>
      problem === undefined ? `${outcome}  ${url}  HTTP ${v1} and ${v2}  ${differences.join(', ') || reason}` : `${url}  ${problem}`,
    ),
    ...unknown.map(
      ({ operation, kind }) => `unknown  ${operation}${kind && `?${kind}`}: its values are not kept; give a log of its requests as FILE`,
    ),
    ...(beyond > 0 ? [`${many(beyond, 'further read')}: raise --max to send them`] : []),
    ...(isDry ? [] : ['crosswalk cutover says what that changed.']),
  ]
}

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
    junit: { ...junitFlag.junit, help: `With --against: ${junitFlag.junit.help}` },
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
    const misuse = guideMisuse(flags) ?? ('problem' in limit ? limit.problem : junitMisuse(flags))
    if (misuse !== undefined) return endWith(io, MISUSED, misuse)
    const traffic = givenTraffic(path, flags, io)
    if ('problem' in traffic) return endWith(io, MISUSED, traffic.problem)
    const client = textOf(flags, 'guide')
    if (client !== undefined) return guide(traffic, client, loaded.config, flags, io)
    const against = textOf(flags, 'against')
    return against === undefined ? tell(traffic, rows, loaded.config, flags, io) : sendReads(traffic, against, loaded.config, flags, io)
  },
}

/** Without `--against` nothing is right or wrong. */
function junitMisuse({ junit, against }: Flags): string | undefined {
  return junit === undefined || against !== undefined ? undefined : '--junit needs --against: without it, nothing is compared.'
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
  const replayed = await withProgress(io.screen, `reading ${oneLine(name)}`, async () =>
    replayTraffic(await open(), tables, compatSettings(config), rows),
  )
  if (flags.json) io.text(JSON.stringify(replayed, null, 2))
  else for (const line of replayLines(replayed, top)) io.out(line)
  await writeSarif(flags, io, () => replaySarif(replayed, name))
  return 0
}
