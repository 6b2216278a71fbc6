import { readFileSync } from 'node:fs'
import http, { type ServerResponse } from 'node:http'
import net, { type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { paced } from '../../../stage/clocks.ts'
import { listening, startProgram } from '../../../stage/programs.ts'
import { startUpstream } from '../../../stage/upstream.ts'
import { type Fault, listOf, serving } from '../fault.ts'
import { askProbe, type Child, program, serve } from '../process/child.ts'
import { residentMiB } from '../soak/clients.ts'

export interface Outcome {
  /** 0 if the connection ended before an answer. */
  readonly status: number
  readonly ms: number
  readonly retryAfter: boolean
}

type Caller = ReturnType<typeof createCaller>

/**
 * A client with a connection and a credential of its own that sends one request at a time. It uses a bare socket: an HTTP client would need
 * more time for a request than the proxy.
 */
function createCaller(url: string, path: string, name: string) {
  const { hostname, port } = new URL(url)
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: load\r\nauthorization: Bearer ${name}\r\n\r\n`)
  let socket: Socket | undefined
  let received = ''
  let done = (_: number) => {}

  const connect = (): Socket => {
    const fresh = net.connect(Number(port), hostname)
    fresh.setNoDelay(true)
    fresh.setEncoding('latin1')
    fresh.on('data', (text: string) => {
      received += text
      const status = completeStatus(received)
      if (status !== undefined) done(status)
    })
    fresh.on('error', () => {})
    fresh.on('close', () => {
      socket = undefined
      done(0)
    })
    return fresh
  }
  return {
    ask(): Promise<Outcome> {
      socket ??= connect()
      received = ''
      const begun = performance.now()
      const asked = socket
      return new Promise((resolve) => {
        done = (status) => {
          done = () => {}
          resolve({ status, ms: performance.now() - begun, retryAfter: /\r\nretry-after: /i.test(received) })
        }
        asked.write(request)
      })
    },
    close: () => socket?.destroy(),
  }
}

function completeStatus(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  const complete = length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= end + 4 + Number(length)
  return complete ? Number(head.slice(9, 12)) : undefined
}

export type Callers = ReturnType<typeof createCallers>

/** As many callers as there are parallel requests; more are created when all are busy. */
export function createCallers(url: string, path: string) {
  const all: Caller[] = []
  const idle: Caller[] = []
  return {
    async ask() {
      let caller = idle.pop()
      if (!caller) {
        caller = createCaller(url, path, `caller-${all.length}`)
        all.push(caller)
      }
      const outcome = await caller.ask()
      idle.push(caller)
      return outcome
    },
    close() {
      for (const caller of all) caller.close()
    },
  }
}

/** Milliseconds after which an answer is useless to its client. */
const PATIENCE = 2000

export interface Pressure {
  readonly asked: number
  /** Useful answers a second: 200, and not too late. */
  readonly goodput: number
  readonly outcomes: readonly Outcome[]
}

/** Each client sends its next request as soon as it has its answer. This measures the maximum of the service. */
export async function closedLoop(callers: Callers, clients: number, ms: number): Promise<Pressure> {
  const outcomes: Outcome[] = []
  const begun = performance.now()
  const askOn = async () => {
    while (performance.now() - begun < ms) outcomes.push(await callers.ask())
  }
  await Promise.all(Array.from({ length: clients }, askOn))
  return pressureOf(outcomes, outcomes.length, begun)
}

/**
 * Sends requests at a fixed rate, whether earlier ones are answered or not, as a crowd does. If the crowd has a size and all its clients
 * wait for an answer, the next request is skipped. A client with its answer asks again as soon as the rate allows it.
 */
export async function openLoop(callers: Callers, perSecond: number, ms: number, size = Number.POSITIVE_INFINITY): Promise<Pressure> {
  const outcomes: Outcome[] = []
  const begun = performance.now()
  const ask = async () => {
    outcomes.push(await callers.ask())
    // By then this one is over.
    setImmediate(askDue)
  }
  const asked = paced(ask, perSecond, size)
  const isOver = () => performance.now() - begun >= ms
  const askDue = () => isOver() || asked.startDue()
  while (!isOver()) {
    askDue()
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const pressure = pressureOf(outcomes, asked.acts(), begun)
  await Promise.race([asked.settled(), new Promise((resolve) => setTimeout(resolve, PATIENCE))])
  return pressure
}

function pressureOf(outcomes: readonly Outcome[], asked: number, begun: number): Pressure {
  const useful = outcomes.filter(({ status, ms }) => status === 200 && ms <= PATIENCE).length
  return { asked, goodput: useful / ((performance.now() - begun) / 1000), outcomes: [...outcomes] }
}

export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

const PATH = '/iam/v1/groups'
/** The limit of requests in flight, and the clients of the peak: enough to keep the process busy. */
const ROOM = 64
/** The clients of the crowd. They ignore `retry-after`, and each has a connection. */
const CROWD = 192
const MEASURED = 700
/** Peak and crowd alternate on existing connections, because other work on the machine affects both. */
const TURNS = 11

export const SERVED = 'goodput ≥ 80 % of the peak; the excess 503 with Retry-After within 250 ms'

/** Measures how much of its goodput the process keeps, as the bottleneck, when a crowd sends twice as many requests as it can answer. */
export async function crowd(): Promise<string> {
  const upstream = await startFixed(listOf(20))
  const child = await serve({ 'upstream-v2': upstream.url, 'requests-in-flight': ROOM })
  const callers = createCallers(child.url, PATH)
  try {
    await closedLoop(callers, CROWD, 4 * MEASURED)
    const turns: Turn[] = []
    for (let turn = 0; turn < TURNS; turn++) turns.push(await takeTurn(child, callers))
    return verdict(turns)
  } finally {
    callers.close()
    await child.stop('SIGTERM')
    upstream.close()
  }
}

type Turn = Awaited<ReturnType<typeof takeTurn>>

async function takeTurn(child: Child, callers: Callers) {
  const used = cpuMs(child)
  const peak = await closedLoop(callers, ROOM, MEASURED)
  const busy = (cpuMs(child) - used) / MEASURED
  const pressed = await openLoop(callers, 2 * peak.goodput, MEASURED, CROWD)
  const refused = pressed.outcomes.filter(({ status, retryAfter }) => status === 503 && retryAfter)
  const times = refused.map(({ ms }) => ms)
  const others = pressed.outcomes.filter(({ status }) => status !== 200).length - refused.length
  return {
    ...{ peak: peak.goodput, busy, useful: pressed.goodput, refused: refused.length },
    /** Milliseconds within which 99 of 100 refusals arrived. */
    late: quantile(times, 0.99),
    /** Answers that were neither useful nor a refusal with a time to retry. */
    others,
  }
}

function verdict(turns: readonly Turn[]): string {
  const median = (of: (turn: Turn) => number) => quantile(turns.map(of), 0.5)
  const share = median(({ useful, peak }) => useful / peak)
  const late = median((turn) => turn.late)
  const busy = median((turn) => turn.busy)
  const figures = `peak ${median(({ peak }) => peak).toFixed(0)}/s (process ${(100 * busy).toFixed(0)} % busy), twice that asked, useful ${median(
    ({ useful }) => useful,
  ).toFixed(0)}/s (${(100 * share).toFixed(0)} %), refused within ${late.toFixed(0)} ms (p99)`
  process.stderr.write(`      ${figures}\n`)
  const holds = [share >= 0.8, late < 250, turns.every(({ refused, others }) => refused > 0 && others === 0)]
  return holds.every(Boolean) ? SERVED : figures
}

/** A minimal service: an HTTP server of Node would need as much of its core as the proxy does. */
async function startFixed(body: string) {
  const answer = Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  const server = net.createServer((socket) => {
    socket.setNoDelay(true).on('error', () => socket.destroy())
    socket.on('data', () => socket.write(answer))
  })
  return { ...(await listening(server)), close: () => server.close() }
}

/** Returns the CPU time of a process (`/proc`, in ticks of 10 ms). */
function cpuMs({ pid }: Child): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const OVERLOAD_PATH = '/iam/v1/groups'
const BODY = Buffer.from(listOf(20))
const OVERLOAD_MEASURED = 4000

interface Bottleneck {
  readonly upstreamMs: number
  readonly connections: number
  readonly requestsInFlight: number
}

/** Other work on the machine can spoil one measurement. A service that cannot bear the load spoils all of them. */
const ATTEMPTS = 3

/** Milliseconds that all attempts may take. */
export const ATTEMPTS_MS = 240_000

export async function attempt(expected: string, measure: () => Promise<string>): Promise<string> {
  let seen = ''
  for (let attempts = 0; attempts < ATTEMPTS && seen !== expected; attempts++) seen = await measure()
  return seen
}

/** Measures the capacity with as many clients as are admitted, then with twice as many requests a second. */
async function measure({ upstreamMs, connections, requestsInFlight }: Bottleneck): Promise<string> {
  const answer = (response: ServerResponse) => void response.end(BODY)
  const upstream = await startUpstream((_, response) => (upstreamMs > 0 ? void setTimeout(answer, upstreamMs, response) : answer(response)))
  const child = await serve({ 'upstream-v2': upstream.url, connections, 'requests-in-flight': requestsInFlight })
  const callers = createCallers(child.url, OVERLOAD_PATH)
  try {
    await closedLoop(callers, requestsInFlight, 1000)
    const peak = await closedLoop(callers, Math.min(requestsInFlight, 2 * connections), OVERLOAD_MEASURED)
    const health = watchHealth(child.adminUrl)
    const crowd = await openLoop(callers, 2 * peak.goodput, OVERLOAD_MEASURED)
    return verdictOfOverload(peak, crowd, await health())
  } finally {
    callers.close()
    await child.stop('SIGTERM')
    await upstream.close()
  }
}

function watchHealth(adminUrl: string): () => Promise<number> {
  let over = false
  const slowest = (async () => {
    let most = 0
    while (!over) {
      const begun = performance.now()
      const { ok } = await fetch(`${adminUrl}/healthz`)
      most = Math.max(most, ok ? performance.now() - begun : Number.POSITIVE_INFINITY)
    }
    return most
  })()
  return () => {
    over = true
    return slowest
  }
}

/** Reports the figures where the sentence is false; they are printed beside it in any case. */
function verdictOfOverload(peak: Pressure, crowd: Pressure, slowestHealth: number): string {
  const refused = crowd.outcomes.filter(({ status }) => status === 503)
  const others = crowd.outcomes.filter(({ status }) => status !== 503 && status !== 200)
  const share = crowd.goodput / peak.goodput
  const late = quantile(
    refused.map(({ ms }) => ms),
    0.99,
  )
  const figures = `peak ${peak.goodput.toFixed(0)}/s, asked ${(crowd.asked / (OVERLOAD_MEASURED / 1000)).toFixed(0)}/s, useful ${crowd.goodput.toFixed(0)}/s (${(
    100 * share
  ).toFixed(0)} %), refused within ${late.toFixed(0)} ms (p99), health within ${slowestHealth.toFixed(0)} ms`
  process.stderr.write(`      ${figures}\n`)
  const holds = [
    share >= 0.8,
    refused.length > 0 && refused.every(({ retryAfter }) => retryAfter),
    late < 250,
    others.length === 0,
    slowestHealth < 1000,
  ]
  return holds.every(Boolean) ? EXPECTED : `${figures}; ${others.length} other answers`
}

const EXPECTED = 'goodput ≥ 80 % of the peak; the excess 503 with Retry-After within 250 ms; health within 1 s'

export const overloadFaults: readonly Fault[] = [
  {
    name: 'twice the capacity of v2 (16 connections, 50 ms a call)',
    expected: EXPECTED,
    full: true,
    patienceMs: ATTEMPTS_MS,
    see: () => attempt(EXPECTED, () => measure({ upstreamMs: 50, connections: 16, requestsInFlight: 64 })),
  },
  { name: 'twice the capacity of the process', expected: SERVED, full: true, patienceMs: ATTEMPTS_MS, see: () => attempt(SERVED, crowd) },
]

export const BURDENS = ['none', 'garbage', 'JSON', 'one endless line', 'a gzip bomb', 'a slow drip'] as const

export type Burden = (typeof BURDENS)[number]

const BYTES = 10_000_000
const HEAD = { 'content-type': 'application/json' }
const GROUPS = Array.from({ length: 60_000 }, (_, nth) => ({ uid: String(nth).padStart(40, '0'), name: 'x'.repeat(100) }))
const JSON_TEXT = Buffer.from(JSON.stringify({ groups: GROUPS, items: GROUPS }).slice(0, BYTES).padEnd(BYTES, ' '))
const GARBAGE = Buffer.alloc(BYTES, 'x')
const BOMB = gzipSync(Buffer.alloc(10 * BYTES, ' '))
const PIECE = Buffer.alloc(65_536, 'x')

/** Writes as fast as the reader reads, without an end. */
function pour(response: ServerResponse): void {
  while (!response.destroyed) if (!response.write(PIECE)) return void response.once('drain', () => pour(response))
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write('x'), 20)
  response.once('close', () => clearInterval(timer))
}

export const RESPOND: Readonly<Record<Burden, (response: ServerResponse, good: string) => void>> = {
  none: (response, good) => void response.writeHead(200, HEAD).end(good),
  // Without a length, so that the reader must read to know.
  garbage: (response) => {
    response.writeHead(200, HEAD).write(GARBAGE.subarray(0, 1000))
    response.end(GARBAGE.subarray(1000))
  },
  JSON: (response) => {
    response.writeHead(200, HEAD).write(JSON_TEXT.subarray(0, 1000))
    response.end(JSON_TEXT.subarray(1000))
  },
  'one endless line': (response) => pour(response.writeHead(200, HEAD)),
  'a gzip bomb': (response) => void response.writeHead(200, { ...HEAD, 'content-encoding': 'gzip' }).end(BOMB),
  'a slow drip': (response) => drip(response.writeHead(200, HEAD)),
}

const ASKED_SIDE_PATH = '/iam/v1/groups'
const PER_SECOND = 200
const WINDOW = 1500
const ROUNDS = 3

/** Starts an upstream as a process of its own. With a niceness, the scheduler prefers the others, so that sending costs them little. */
async function startHeavy(niceness: number) {
  const child = startProgram('nice', ['-n', String(niceness), process.execPath, program('../load/heavy-upstream.js')])
  return { url: await child.line(/^http/), stop: () => child.signal('SIGKILL') }
}

/** What clients and the system saw while the asked side was in one state. */
interface Sight {
  /** Milliseconds of each answer, round by round. */
  readonly rounds: number[][]
  mib: number
  failed: number
}

async function look(callers: Callers, child: Child, sight: Sight): Promise<void> {
  const sampling = setInterval(() => {
    sight.mib = Math.max(sight.mib, residentMiB(child.pid))
  }, 50)
  const { outcomes } = await openLoop(callers, PER_SECOND, WINDOW)
  clearInterval(sampling)
  sight.rounds.push(outcomes.map(({ ms }) => ms))
  sight.failed += outcomes.filter(({ status }) => status !== 200).length
}

/** Measures with and without the burden in turn, so that whatever else the machine does hits both. */
async function measureOfAskedSide(mode: 'diff-v1' | 'diff-v2', burden: Burden): Promise<string> {
  const good = await startHeavy(0)
  const bad = await startHeavy(19)
  const [v1, v2] = mode === 'diff-v1' ? [good.url, bad.url] : [bad.url, good.url]
  const child = await serve({ 'upstream-v1': v1, 'upstream-v2': v2, mode })
  const callers = createCallers(child.url, ASKED_SIDE_PATH)
  const sights = { without: { rounds: [], mib: 0, failed: 0 }, with: { rounds: [], mib: 0, failed: 0 } } satisfies Record<string, Sight>
  try {
    await openLoop(callers, PER_SECOND, 2 * WINDOW)
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, state] of [['without', 'none'] as const, ['with', burden] as const]) {
        await fetch(`${bad.url}/-/${encodeURIComponent(state)}`)
        await look(callers, child, sights[name])
      }
    }
  } finally {
    callers.close()
    await child.stop('SIGKILL')
    good.stop()
    bad.stop()
  }
  return verdictOfAskedSide(sights.without, sights.with)
}

/** Milliseconds below which two times cannot be told apart on a quiet machine. */
const BLUR = 1

const median = (numbers: readonly number[]) => quantile(numbers, 0.5)

function verdictOfAskedSide(before: Sight, after: Sight): string {
  const late = ({ rounds }: Sight) => rounds.map((ms) => quantile(ms, 0.99))
  const [alone, burdened] = [median(late(before)), median(late(after))]
  // Rounds without the burden are alike. What tells them apart is other work on the machine, and it may hit a round with the burden too.
  const blur = Math.max(BLUR, Math.max(...late(before)) - Math.min(...late(before)))
  const more = after.mib - before.mib
  const figures = `p99 ${alone.toFixed(2)} (± ${blur.toFixed(2)}) → ${burdened.toFixed(2)} ms, p50 ${median(before.rounds.flat()).toFixed(2)} → ${median(after.rounds.flat()).toFixed(2)} ms, memory ${before.mib.toFixed(0)} → ${after.mib.toFixed(0)} MiB`
  process.stderr.write(`      ${figures}\n`)
  const holds = burdened <= Math.max(1.05 * alone, alone + blur) && more <= 32 && before.failed + after.failed === 0
  return holds ? ASKED_SIDE_EXPECTED : `${figures}, ${before.failed + after.failed} failures`
}

const ASKED_SIDE_EXPECTED = 'clients: p99 at most 5 % later, or 1 ms, or as much as the machine varies; at most 32 MiB more'

export const askedSideFaults: readonly Fault[] = (['diff-v1', 'diff-v2'] as const).flatMap((mode) =>
  BURDENS.filter((burden) => burden !== 'none').map((burden) => ({
    name: `the asked side sends 10 MB or more to ${mode}: ${burden}`,
    expected: ASKED_SIDE_EXPECTED,
    full: true as const,
    patienceMs: ATTEMPTS_MS,
    see: () => attempt(ASKED_SIDE_EXPECTED, () => measureOfAskedSide(mode, burden)),
  })),
)

/** What a client sends that no other request has: the n-th value of each kind. */
interface Unique {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const LIST = '/iam/v1/groups'

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const CONNECT = { 'content-type': 'application/json' }

const KINDS: Readonly<Record<string, (nth: number) => Unique>> = {
  'an id in a path': (nth) => ({ path: `${LIST}/${String(nth).padStart(40, '0')}` }),
  'a native path': (nth) => ({ path: `/iam/v2/groups/${nth}` }),
  'a name of a parameter': (nth) => ({ path: `${LIST}?p${nth}=1` }),
  'a value of a parameter': (nth) => ({ path: `${LIST}?name=n${nth}` }),
  'a token that is accepted': (nth) => ({ path: LIST, headers: bearer(`token-${nth}`) }),
  'a token that is refused': (nth) => ({ path: `${LIST}?refuse=1`, headers: bearer(`refused-${nth}`) }),
  'a subject of a JWT': (nth) => ({ path: LIST, headers: bearer(`${part({ alg: 'none' })}.${part({ sub: `subject-${nth}` })}.x`) }),
  'a user agent and a request id': (nth) => ({
    path: LIST,
    headers: { 'user-agent': `agent${nth}/1.${nth}`, 'x-request-id': `id-${nth}` },
  }),
  'an address': (nth) => ({ path: LIST, headers: { 'x-forwarded-for': `10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}` } }),
  'a method of gRPC': (nth) => ({ method: 'POST', path: `/chainguard.platform.iam.Groups/M${nth}`, headers: CONNECT, body: '{}' }),
  'a service of gRPC': (nth) => ({ method: 'POST', path: `/service.N${nth}/List`, headers: CONNECT, body: '{}' }),
  'an origin': (nth) => ({ path: LIST, headers: { origin: `https://o${nth}.example` } }),
}

const MANY = Number(process.env.CROSSWALK_CASES ?? 240_000) / Object.keys(KINDS).length

const LANES = 64

/** Bytes that the last quarter of the values may add to the heap. Learnt things of 60,000 values would be 6 MB at a hundred bytes each. */
const FLAT = 4 * 2 ** 20

/** The heap that an idle process needs, and what all bounded things of the tables of this package may hold. */
const IN_ALL = 192 * 2 ** 20

async function sendAll(url: string, from: number, to: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: LANES })
  const makers = Object.values(KINDS)
  let next = from * makers.length
  const lane = async () => {
    for (; next < to * makers.length; ) {
      const at = next
      next += 1
      await sent(agent, url, (makers[at % makers.length] as (nth: number) => Unique)(Math.floor(at / makers.length)))
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  agent.destroy()
}

function sent(agent: http.Agent, url: string, { method = 'GET', path, headers = {}, body }: Unique): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.request(url + path, { agent, method, headers }, (response) => response.resume().once('end', resolve))
    request.once('error', reject).end(body)
  })
}

async function heapAfterAll(): Promise<string> {
  const rows = serving(3)
  const upstream = await startUpstream((request, response, body) => {
    // It keeps what it has seen.
    ;(upstream.seen as unknown[]).length = 0
    if (!/refused-/.test(request.headers.authorization ?? '')) return rows(request, response, body)
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"code":16,"message":"no"}')
  })
  const settings = { 'upstream-v2': upstream.url, 'upstream-v1': upstream.url, mode: 'diff-v1', 'diff-per-second': 500 }
  const child = await serve(settings, { nodeFlags: ['--expose-gc', '--import', program('../load/heap-probe.js')] })
  try {
    await sendAll(child.url, 0, (MANY * 3) / 4)
    const before = await askProbe<number>(child, 'heap')
    await sendAll(child.url, (MANY * 3) / 4, MANY)
    const after = await askProbe<number>(child, 'heap')
    const grown = `+ ${((after - before) / 2 ** 20).toFixed(1)} MiB`
    const isFlat = after - before < FLAT && after < IN_ALL
    return isFlat ? 'the heap is flat' : `the heap grew in the last quarter by ${grown}, to ${(after / 2 ** 20).toFixed(0)} MiB`
  } finally {
    await child.stop('SIGKILL')
    await upstream.close()
  }
}

export const uniqueFaults: readonly Fault[] = [
  {
    name: `${MANY * Object.keys(KINDS).length} values of ${Object.keys(KINDS).length} kinds that never repeat, in diff-v1`,
    expected: 'the heap is flat',
    see: heapAfterAll,
    full: true,
    patienceMs: 900_000,
  },
]
