import type { RestartableProxy } from '../balancer/processes.ts'
import type { Entry, Journal } from './journal.ts'
import { type Finding, headsOf, judgeAnswers, judgeEntries, owedBy } from './judge.ts'
import { type CarrierName, TARGETS } from './rows/make.ts'
import type { Row } from './rows.ts'
import { speak } from './speak.ts'
import { credential, echoIn } from './tokens.ts'

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
export const AFTERWARDS = -1

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
