import net from 'node:net'
import { createProxy, type RestartableProxy } from '../balancer/processes.ts'
import { readAnswers, type WireAnswer } from '../faults/wire.ts'
import {
  credential,
  type Entry,
  echoIn,
  type Finding,
  headsOf,
  type Journal,
  judgeAnswers,
  judgeEntries,
  owedBy,
  startJournal,
} from './judge.ts'
import { CARRIERS, type CarrierName, type Row, TARGETS } from './rows.ts'
import { type Kind, type Running, startServer } from './servers.ts'

/** Milliseconds to wait for an answer that must come; after that it is missing. */
const PATIENCE = 6_000
/** Milliseconds of silence that end an exchange in which no more answers must come. */
const QUIET = 80

export interface Speech {
  readonly port: number
  /** Each part but the first is sent at the first byte after the one before, or after a silence. */
  readonly parts: readonly string[]
  /** The answers (from 0) to HEAD requests, which have no body. */
  readonly heads: readonly number[]
  /** Number of answers that must come. */
  readonly owed: number
}

export interface Spoken {
  /** Final answers, and the one that opens a tunnel. */
  readonly answers: readonly WireAnswer[]
  readonly closed: boolean
}

/** Sends bytes on a connection of its own and reads until the other side closes it or is silent. */
export function speak({ port, parts, heads, owed }: Speech): Promise<Spoken> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    const unsent = [...parts]
    let received = ''
    let timer: NodeJS.Timeout | undefined
    const answers = (closed: boolean) => finalOnes(readAnswers(received, closed, heads))
    const done = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ answers: answers(closed), closed })
    }
    const silent = () => {
      if (unsent.length > 0) return sayNext()
      done(false)
    }
    const listen = () => {
      clearTimeout(timer)
      const isOwed = unsent.length === 0 && !isEnough(answers(false), owed)
      timer = setTimeout(silent, isOwed ? PATIENCE : QUIET)
    }
    const sayNext = () => {
      const part = unsent.shift()
      if (part !== undefined) socket.write(part, 'latin1')
      listen()
    }
    socket.setEncoding('latin1').setNoDelay(true)
    socket.once('connect', sayNext)
    socket.on('data', (piece: string) => {
      received += piece
      if (unsent.length > 0) sayNext()
      else listen()
    })
    socket.on('error', () => {})
    socket.on('close', () => done(true))
  })
}

/** After a tunnel is opened, no more answers must come. */
function isEnough(answers: readonly WireAnswer[], owed: number): boolean {
  return answers.filter(({ broken }) => !broken).length >= owed || answers.some(({ status }) => status === 101)
}

/** No bytes in a tunnel are an answer. The last answer may be incomplete. */
function finalOnes(all: readonly WireAnswer[]): readonly WireAnswer[] {
  const tunnel = all.findIndex(({ status }) => status === 101)
  return (tunnel < 0 ? all : all.slice(0, tunnel + 1)).filter(({ status }) => status >= 200 || status === 101 || status === 0)
}

/** A way of requests, from its front to the journal at its end. */
export interface Lane {
  readonly port: number
  readonly journal: Journal
  /** The carriers that are answered: v1 only with a v1 service. */
  readonly carriers: readonly CarrierName[]
  /** The proxy, if the way contains one. */
  readonly proxy?: RestartableProxy
}

/** Faults by the row. */
export type Findings = ReadonlyMap<number, ReadonlySet<Finding>>

/** Stands for requests after all rows. */
const AFTERWARDS = -1

/** Requests at the end that must each get their own answer, this many on a connection. */
const CONTROLS = 100
const AT_ONCE = 5

/** Sends every row. After each it sends a harmless request of another client on a connection of its own. */
export async function runLane(lane: Lane, rows: readonly Row[]): Promise<Findings> {
  const findings = new Map<number, Set<Finding>>()
  const note: Note = (nr, ...found) => {
    for (const finding of found) findings.set(nr, (findings.get(nr) ?? new Set()).add(finding))
  }
  for (const carrier of lane.carriers)
    if (!(await isServed(lane, carrier, 'learn-0'))) throw new Error(`a harmless ${carrier} request was not answered`)
  const harmless = new Set(lane.journal.entries.map(({ head }) => head.target))
  for (const row of rows) if (lane.carriers.includes(row.carrier)) await sendRow(lane, row, note)
  if (!(await areInStep(lane))) note(AFTERWARDS, 'another client got a wrong answer')
  readJournal(lane.journal, rows, harmless, note)
  return findings
}

type Note = (nr: number, ...found: readonly Finding[]) => void

async function sendRow(lane: Lane, row: Row, note: Note): Promise<void> {
  note(row.nr, ...judgeAnswers(row, await speak({ port: lane.port, parts: row.parts, heads: headsOf(row), owed: owedBy(row) })))
  for (const carrier of new Set([row.carrier, 'native'] as const)) {
    if (await isServed(lane, carrier, `victim-${row.nr}-${carrier}`)) continue
    note(row.nr, 'another client got a wrong answer')
    if (!lane.proxy || (await isUp(lane.proxy))) continue
    note(row.nr, 'the proxy ended')
    await lane.proxy.stop('SIGKILL')
    await lane.proxy.start('/healthz')
  }
}

async function isUp({ adminUrl }: RestartableProxy): Promise<boolean> {
  return fetch(`${adminUrl}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** Compares the requests that arrived with those that were sent. */
function readJournal({ entries, oddities }: Journal, rows: readonly Row[], harmless: ReadonlySet<string>, note: Note): void {
  const ofRow = new Map<number, Entry[]>()
  for (const entry of entries) {
    const nr = rowOf(entry.id, entry.head.target)
    ofRow.set(nr, [...(ofRow.get(nr) ?? []), entry])
    if (entry.after !== undefined) note(rowOf(entry.after, ''), 'a connection was used after a broken answer')
    if (isStolen(entry, harmless)) note(nr, "another client's credential arrived with a request of somebody else")
  }
  for (const row of rows) note(row.nr, ...judgeEntries(row, ofRow.get(row.nr) ?? []))
  if (entries.filter(({ id }) => id.startsWith('control-')).length > CONTROLS) note(AFTERWARDS, 'a request arrived twice')
  for (const { bytes } of oddities) note(rowOf(bytes, ''), 'bytes arrived that are no request')
}

/** True if a harmless request gets its own answer. */
export async function isServed({ port }: Pick<Lane, 'port'>, carrier: CarrierName, id: string): Promise<boolean> {
  const { answers } = await speak({ port, parts: [harmlessRequest(carrier, id, ['connection: close'])], heads: [], owed: 1 })
  return answers.length === 1 && answers[0]?.status === 200 && echoIn(answers[0]) === id
}

function harmlessRequest(carrier: CarrierName, id: string, lines: readonly string[] = []): string {
  return `${[`GET ${TARGETS[carrier].read} HTTP/1.1`, 'host: garden', credential(id, 'ok'), ...lines].join('\r\n')}\r\n\r\n`
}

/** Sends the controls, a few on each connection. Each must get its own answer. */
async function areInStep({ port, carriers }: Lane): Promise<boolean> {
  const connections = Array.from({ length: CONTROLS / AT_ONCE }, async (_, at) => {
    const ids = Array.from({ length: AT_ONCE }, (_, nth) => `control-${at}-${nth}`)
    const requests = ids.map((id, nth) => harmlessRequest(carriers[(at + nth) % carriers.length] ?? 'native', id))
    const { answers } = await speak({ port, parts: [requests.join('')], heads: [], owed: AT_ONCE })
    return answers.map(echoIn).join() === ids.join()
  })
  return (await Promise.all(connections)).every(Boolean)
}

/** Returns the row from which a request, or other bytes, come. */
function rowOf(text: string, target: string): number {
  const [, nr] = /hidden-(\d+)/.exec(target) ?? /\b(?:r|hidden-|probe-|victim-)(\d+)/.exec(text) ?? []
  return nr === undefined ? AFTERWARDS : Number(nr)
}

/** True if a request that a harmless client did not send carries its credential. */
function isStolen({ id, head, body }: Entry, harmless: ReadonlySet<string>): boolean {
  return /^(victim|control)-/.test(id) && (head.method !== 'GET' || body !== '' || !harmless.has(head.target))
}

/** From the client to the journal: `crosswalk`, or the name of a server. */
export type Way = readonly ('crosswalk' | 'crosswalk without v1' | Kind)[]

export const nameOf = (way: Way) => ['client', ...way.map((hop) => (typeof hop === 'string' ? hop : hop.name)), 'journal'].join(' → ')

/** Starts a way from its end to its front, sends all rows through it, and stops it. `cli` is the path of the built command line. */
export async function walk(cli: string, rows: readonly Row[], way: Way): Promise<Findings> {
  const journal = await startJournal()
  const stops: (() => Promise<unknown>)[] = [journal.close]
  try {
    let { port } = journal
    let proxy: Awaited<ReturnType<typeof createProxy>> | undefined
    for (const hop of [...way].reverse()) {
      if (typeof hop === 'string') {
        proxy = await createProxy(cli, environment(port, hop === 'crosswalk'))
        const { stop } = proxy
        stops.unshift(() => stop('SIGKILL'))
        // `/healthz` only says that the proxy listens. A ping of the services behind it would be an extra request.
        await proxy.start('/healthz')
        port = proxy.port
      } else {
        const server: Running = await startServer(hop, port)
        stops.unshift(server.stop)
        port = server.port
      }
    }
    const carriers = CARRIERS.filter((carrier) => carrier !== 'v1' || !way.includes('crosswalk without v1'))
    return await runLane({ port, journal, carriers, ...(proxy && { proxy }) }, rows)
  } finally {
    for (const stop of stops) await stop()
  }
}

/** Both services are the server behind the proxy. There is no fallback, because it would be a second request. */
function environment(port: number, isWithV1: boolean): Readonly<Record<string, string>> {
  const upstream = `http://127.0.0.1:${port}`
  return {
    CROSSWALK_UPSTREAM_V2: upstream,
    ...(isWithV1 && { CROSSWALK_UPSTREAM_V1: upstream }),
    CROSSWALK_FALLBACKS_PER_MINUTE: '0',
    CROSSWALK_LOG_LEVEL: 'error',
  }
}

/** One fault in one row. */
export interface Wrong {
  readonly row: Pick<Row, 'nr' | 'name' | 'carrier'>
  readonly finding: Finding
}

const AFTER_ALL: Wrong['row'] = { nr: AFTERWARDS, name: 'afterwards', carrier: 'native' }

export function listOf(findings: Findings, rows: readonly Row[]): readonly Wrong[] {
  const wrongs = [...findings].flatMap(([nr, found]) => [...found].map((finding) => ({ row: rows[nr] ?? AFTER_ALL, finding })))
  return wrongs.sort((a, b) => a.row.nr - b.row.nr)
}

/** A line by which a person finds the row. */
export const describeWrong = ({ row, finding }: Wrong) => `${finding}: row ${row.nr}, ${row.carrier}, ${row.name}`

/** Names of rows that a line shows. */
const SHOWN = 3

/** Returns a line for each kind of finding: the number of its rows, and the names of some. */
export function summaryOf(wrongs: readonly Wrong[]): readonly string[] {
  const byFinding = new Map<Finding, Wrong[]>()
  for (const wrong of wrongs) byFinding.set(wrong.finding, [...(byFinding.get(wrong.finding) ?? []), wrong])
  return [...byFinding].map(([finding, found]) => {
    const names = [...new Set(found.map(({ row }) => row.name))]
    return `  ${finding}: ${found.length} rows (${names.slice(0, SHOWN).join('; ')}${names.length > SHOWN ? '; …' : ''})`
  })
}
