import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Config } from '../../../src/app/config/settings.ts'
import { startProxy, type TestProxy } from '../../stage/stage.ts'
import { connect2, fetch2, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { idle } from './process/child.ts'
import { talk, type WireAnswer } from './wire.ts'

/** One fault, and what a client must see of it. */
export interface Fault {
  readonly name: string
  /** The exact result of `see`. Two correct answers are two lines. */
  readonly expected: string | readonly string[]
  /** Causes the fault, sends requests, cleans up, and returns what the client saw. */
  readonly see: () => Promise<string>
  /** True if it needs built programs or more time than `npm test` has. */
  readonly full?: true
  /** Milliseconds after which the fault counts as a hang, if it measures for longer than others. */
  readonly patienceMs?: number
  /** A program that the fault needs. Without it the fault is skipped with a message. */
  readonly needs?: string
}

export const fault = (name: Fault['name'], expected: Fault['expected'], see: Fault['see']): Fault => ({ name, expected, see })

/** A fault that `npm test` leaves out. */
export const longFault = (...given: Parameters<typeof fault>): Fault => ({ ...fault(...given), full: true })

export interface Group {
  readonly name: string
  readonly faults: readonly Fault[]
}

export interface Row {
  readonly group: string
  readonly name: string
  readonly expected: string
  readonly seen: string
  readonly holds: boolean
}

/** Milliseconds after which a fault counts as a hang, unless it says another number. */
const PATIENCE = 60_000

export async function observe(group: string, { name, expected, see, patienceMs = PATIENCE }: Fault): Promise<Row> {
  const right = typeof expected === 'string' ? [expected] : expected
  const seen = await withPatience(see(), patienceMs, 'nothing', 'the test itself failed')
  return { group, name, expected: right.join(' or '), seen, holds: right.includes(seen) }
}

/** Waits so long for a result. Sentences that begin with `late` and `failed` take its place. */
export async function withPatience<T>(result: Promise<T>, ms: number, late: string, failed: string): Promise<T | string> {
  let timer: NodeJS.Timeout | undefined
  const isLate = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`${late} within ${ms} ms`), ms)
  })
  try {
    return await Promise.race([result, isLate])
  } catch (error) {
    return `${failed}: ${(error as Error).stack}`
  } finally {
    clearTimeout(timer)
  }
}

export function tableOf(rows: readonly Row[]): string {
  const line = ({ group, name, expected, seen, holds }: Row) =>
    `${[`${group}: ${name}`, expected, seen, holds ? 'holds' : 'FAILS'].map(cell).join(' | ')} |`
  return ['| Fault | Expected | Seen | |', '|---|---|---|---|', ...rows.map((row) => `| ${line(row)}`)].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')
}

export async function runFaults(groups: readonly Group[], note: (row: Row, seconds: number) => void): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const { name, faults } of groups) {
    for (const fault of faults) {
      const begun = performance.now()
      const row = await observe(name, fault)
      rows.push(row)
      note(row, (performance.now() - begun) / 1000)
    }
  }
  return rows
}

/**
 * Describes an answer in a few words: `200, 3 rows`, `503/14`, `429/8, again after 7 s`, `broken off`.
 * An error that v1 does not have is named.
 */
export function say(answer: WireAnswer | undefined): string {
  if (!answer || answer.status === 0) return 'no answer'
  if (answer.broken) return 'broken off'
  const { status, headers, body } = answer
  const type = headers.get('content-type')
  const coding = headers.get('content-encoding')
  if (status < 400) return `${status}${coding === undefined ? rowsIn(body, type) : ` ${coding}`}`
  if (body === '') return `${status}, empty`
  const code = errorIn(body, type)
  const again = headers.get('retry-after')
  return `${code === undefined ? otherError(status, type) : `${status}/${code}`}${again === undefined ? '' : `, again after ${again} s`}`
}

export function messageIn({ body }: Pick<WireAnswer, 'body'>): string {
  return String((JSON.parse(body) as { message?: unknown }).message)
}

/** Describes an error whose body is not ours; only passed-through requests may get one. */
function otherError(status: number, type: string | undefined): string {
  return `${type === 'text/html' ? 'html' : 'other'} ${status}`
}

/** Returns the code of a v1 error: exactly `code`, `message` and `details`, as JSON (facts §15). Undefined for anything else. */
export function errorIn(body: string, type: string | undefined): number | undefined {
  try {
    const error = JSON.parse(body) as Record<string, unknown>
    const members = Object.keys(error).sort().join()
    const isV1 = members === 'code,details,message' && typeof error.message === 'string' && Array.isArray(error.details)
    return isV1 && typeof error.code === 'number' && type === 'application/json' ? error.code : undefined
  } catch {
    return undefined
  }
}

function rowsIn(body: string, type: string | undefined): string {
  if (type === undefined && body === '') return ''
  try {
    const { items } = JSON.parse(body) as { items?: unknown[] }
    return items ? `, ${items.length} rows` : ''
  } catch {
    return body === '' ? ', empty' : ', not JSON'
  }
}

/** The behaviour of a server behind the proxy after it has read a request's body. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse, body: string) => void

export interface World {
  readonly upstream: Upstream
  readonly proxy: TestProxy
}

/** Runs `use` with the proxy in front of one upstream that plays both services. */
export async function inWorld<T>(behaviour: Behaviour, settings: Partial<Config>, use: (world: World) => Promise<T>): Promise<T> {
  const upstream = await startUpstream(behaviour)
  const proxy = await startProxy({ 'upstream.v2': upstream.url, 'upstream.v1': upstream.url, 'fallback.perMinute': 0, ...settings })
  try {
    return await use({ upstream, proxy })
  } finally {
    await proxy.close()
    await upstream.close()
  }
}

/** A fault that is seen through the proxy in front of one upstream, which serves three rows unless it behaves otherwise. */
export const faultIn = (
  settings: Partial<Config>,
  name: Fault['name'],
  expected: Fault['expected'],
  see: (world: World) => Promise<string>,
  behaviour: Behaviour = serving(3),
): Fault => fault(name, expected, () => inWorld(behaviour, settings, see))

export const get = (path: string, lines = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${lines}\r\n`

export const READ = get('/iam/v1/groups')

/** The answer to a request that is read only so far. */
export const answerTo = async (url: string, request = READ): Promise<string> => String(say((await talk(url, request, 1)).answers[0]))

export async function afterwards(proxy: Pick<TestProxy, 'url' | 'adminUrl'>): Promise<string> {
  await idle(proxy)
  return `none in flight; then ${await answerTo(proxy.url)}`
}

export const serving =
  (rows: number): Behaviour =>
  ({ url = '' }, response) => {
    const { searchParams } = new URL(url, 'http://v2')
    const skipped = Math.min(rows, Number(searchParams.get('skip') ?? 0))
    const from = Number(searchParams.get('page_token') ?? skipped)
    const to = Math.min(rows, from + Number(searchParams.get('page_size') ?? rows))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(listOf(to - from, to < rows ? String(to) : '', from, skipped))
  }

/** A v2 list as text, from a row on. `skipped` echoes the query's skip. No v1 error has the same text. */
export function listOf(rows: number, nextPageToken = '', from = 0, skipped = 0): string {
  const groups = Array.from({ length: rows }, (_, at) => ({ uid: String(from + at).padStart(40, '0'), name: `g${from + at}` }))
  // The uid makes it the answer to a write, the repos one to their list.
  return JSON.stringify({ uid: '0'.repeat(40), groups, repos: [], nextPageToken, skipped })
}

/** A request whose bytes matter; no client normalises it. */
export interface Asked {
  readonly method?: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** Returns the answers to one request over HTTP/1.1 and over HTTP/2. */
export async function askBoth(url: string, asked: Asked): Promise<readonly [WireAnswer | undefined, WireAnswer]> {
  return [await ask1(url, asked), await ask2(url, asked)]
}

const NO_BODY = Buffer.alloc(0)

async function ask1(url: string, { method = 'GET', target, headers = {}, body = NO_BODY }: Asked): Promise<WireAnswer | undefined> {
  const sent = { host: 'x', connection: 'close', 'content-length': String(body.length), ...headers }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  const { answers } = await talk(url, (socket) => socket.write(Buffer.concat([head, body])))
  return answers[0]
}

export async function ask2(url: string, { method = 'GET', target, headers, body }: Asked): Promise<WireAnswer> {
  const session = await connect2(url)
  try {
    const answer = await fetch2(session, target, { ':method': method, ...headers }, body)
    const pairs = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
    return { status: answer.status, headers: new Map(pairs), body: answer.body, broken: false }
  } finally {
    session.close()
  }
}
