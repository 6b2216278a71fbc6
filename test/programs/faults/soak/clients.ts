import { readdirSync, readFileSync } from 'node:fs'
import http2 from 'node:http2'
import type { Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { type Behaviour, errorIn, get, listOf, READ, serving } from '../fault.ts'
import { countIn } from '../fuzz/hunt.ts'
import { type Lane, openLane } from '../fuzz/requests.ts'
import { bytesOf, dial, type FieldLine, frame, headers, PREFACE, TYPE, uint32, type WireAnswer } from '../wire.ts'

const html =
  (status: number): Behaviour =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'text/html', 'retry-after': '1' }).end('<html>')

const WELL: Behaviour = serving(20)

/** The callers whose answers v2 may delay. Only its caller shares a call, so the times of all others are the proxy's own. */
export const PATIENT = 'patient-'

/** Delays of answers, for patient callers only. */
const DELAYS: readonly Behaviour[] = [(request, response, body) => void setTimeout(WELL, 200, request, response, body), () => {}]

const FAULTS: readonly Behaviour[] = [
  ({ socket }) => void socket.resetAndDestroy(),
  (_, response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('{"groups":[', () => response.destroy())
  },
  html(500),
  html(503),
  html(429),
  (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(listOf(20))),
  (_, response) => void response.end(listOf(20).slice(0, 99)),
  (_, response) => void response.end(listOf(200, 'again')),
]

export function faulty(random: () => number, oneIn: number): Behaviour {
  return (request, response, body) => {
    const faults = request.headers.authorization?.startsWith(PATIENT) ? [...DELAYS, ...FAULTS] : FAULTS
    const fault = random() * oneIn < 1 ? faults[Math.floor(random() * faults.length)] : undefined
    const behave = fault ?? WELL
    behave(request, response, body)
  }
}

const PARENT = 'a'.repeat(40)
const asking = (path: string) => ({ text: get(path, 'authorization: NAME\r\n'), isHead: false })

const REQUESTS = [
  asking('/iam/v1/groups'),
  asking('/iam/v1/groups?limit=10&offset=5'),
  asking(`/iam/v1/groups?id=${PARENT}`),
  asking('/iam/v2/groups'),
  asking('/registry/v1/vuln_reports'),
  {
    text: `POST /iam/v1/groups/${PARENT} HTTP/1.1\r\nhost: x\r\nauthorization: NAME\r\ncontent-length: 12\r\n\r\n{"name":"x"}`,
    isHead: false,
  },
]
const UNTOUCHED = new Set([3, 4])
/** Of 50 callers. */
const PATIENT_CALLERS = 10

/** Milliseconds without a request after which a client leaves its connection: the server ends it at 10 s, and a request may cross that end. */
const KEPT_MS = 8000

export type Clients = ReturnType<typeof createClients>

/** Clients on kept connections. Some leave in the middle, send garbage, or do not read. */
export function createClients(url: string, random: () => number) {
  const idle: { readonly lane: Lane; readonly since: number }[] = []
  const all: Lane[] = []
  const statuses: Record<string, number> = {}
  const wrong: string[] = []
  const times: number[] = []
  const ask = async () => {
    const at = Math.floor(random() * REQUESTS.length)
    const { text, isHead } = REQUESTS[at] ?? asking('/')
    const begun = performance.now()
    const kept = idle.pop()
    const isFresh = kept && begun - kept.since < KEPT_MS
    if (kept && !isFresh) kept.lane.close()
    const lane = isFresh ? kept.lane : openLane(url)
    if (!all.includes(lane)) all.push(lane)
    const number = Math.floor(random() * 50)
    const isPatient = number < PATIENT_CALLERS
    const caller = `${isPatient ? PATIENT : 'caller-'}${number}`
    const answer = await lane.ask({ text: text.replace('NAME', caller), isHead })
    if (!isPatient) times.push(performance.now() - begun)
    idle.push({ lane, since: performance.now() })
    const status = answer ? String(answer.status) : 'broken off'
    countIn(statuses, status)
    if (!UNTOUCHED.has(at) && !isRight(answer)) wrong.push(`${text.split('\r\n')[0]}: ${answer ? answer.body.slice(0, 200) : 'no answer'}`)
  }
  return {
    /** Sends a request, or goes away in the middle of one; never rejects. */
    act: () => (random() < 0.02 ? rudely(url, random) : ask()),
    statuses,
    wrong,
    /** Milliseconds of each answer to a caller whom v2 does not delay. */
    times,
    close() {
      for (const lane of all) lane.close()
    },
  }
}

function isRight(answer: WireAnswer | undefined): boolean {
  if (!answer) return false
  if (answer.status === 200) return typeof JSON.parse(answer.body) === 'object'
  return errorIn(answer.body, answer.headers.get('content-type')) !== undefined
}

const RUDE = [READ, 'GET /iam/v1/gro', REQUESTS.at(-1)?.text.slice(0, -5) ?? '', 'nonsense\r\n\r\n']

function rudely(url: string, random: () => number): Promise<void> {
  const bytes = RUDE[Math.floor(random() * RUDE.length)] ?? ''
  return connected(url, (socket) => {
    socket.write(bytes)
    setTimeout(() => socket.resetAndDestroy(), random() * 50)
  })
}

/** Milliseconds for which an act holds its connection. */
const HOLDS = 2000

const UPGRADE = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
const H2C = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n'

/** The path that the service answers before it has read the body. */
export const EARLY = '/early'

/** The beginning of a forged token, which no service accepts. */
export const FORGED = 'Bearer e30.'

type Act = (url: string, random: () => number) => Promise<void>

const ACTS: Readonly<Record<string, Act>> = {
  'slow readers': (url) => connected(url, (socket) => void socket.pause().write(get('/iam/v1/groups').repeat(20))),
  'no window': noWindow,
  'early answers': (url, random) =>
    connected(url, (socket) => {
      const path = random() < 0.5 ? EARLY : '/iam/v1/nothing'
      socket.resume().write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\npart`)
      if (random() < 0.5) socket.once('data', () => socket.destroy())
    }),
  'broken upgrades': (url, random) =>
    connected(url, (socket) => {
      const broken = [
        get('/socket', `${UPGRADE}content-length: 30\r\n`),
        get('/socket', `${UPGRADE}transfer-encoding: chunked\r\n`),
        get('/iam/v1/groups') + get('/socket', UPGRADE) + get('/iam/v1/groups'),
        get('/iam/v1/groups', H2C).repeat(5),
        get('/socket', UPGRADE).slice(0, -4),
      ]
      socket.resume().write(broken[Math.floor(random() * broken.length)] ?? '')
      if (random() < 0.5) setImmediate(() => socket.resetAndDestroy())
    }),
  'forged tokens': (url, random) =>
    connected(url, (socket) => {
      const claims = Buffer.from(JSON.stringify({ sub: `stranger-${random()}` })).toString('base64url')
      const path = random() < 0.5 ? '/iam/v1/groups?limit=abc' : '/registry/v1/vuln_reports'
      socket.resume().write(get(path, `authorization: ${FORGED}${claims}.\r\nconnection: close\r\n`))
    }),
  'a reset in the packet of its request': (url) => connected(url, (socket) => void socket.resume().write(RESET)),
}

/** Performs one hostile act after the other, each kind equally often. Each ends by itself within a few seconds, and never rejects. */
export function createHostile(url: string, random: () => number) {
  const acts: Record<string, number> = {}
  const kinds = Object.entries(ACTS)
  return {
    acts,
    async act() {
      const [kind, does] = kinds[Math.floor(random() * kinds.length)] as [string, Act]
      acts[kind] = (acts[kind] ?? 0) + 1
      await does(url, random)
    },
  }
}

function connected(url: string, speak: (socket: Socket) => void): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = dial(url).once('connect', () => speak(socket))
    const timer = setTimeout(() => socket.destroy(), HOLDS)
    socket.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const STREAMS = 5

function noWindow(url: string): Promise<void> {
  return new Promise((resolve) => {
    const session = http2.connect(url, { settings: { initialWindowSize: 0 } })
    const timer = setTimeout(() => session.destroy(), HOLDS)
    session.on('error', () => {})
    session.once('remoteSettings', () => {
      for (let at = 0; at < STREAMS; at += 1) session.request({ ':path': '/iam/v1/groups' }).on('error', () => {})
    })
    session.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const CALL: readonly FieldLine[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/test.Echo/Unary'],
  [':authority', 'x'],
  ['content-type', 'application/grpc'],
]
const CANCEL = 8

/** The head of a gRPC call and its reset: one write, one packet. */
const RESET = Buffer.concat([
  PREFACE,
  ...[frame(TYPE.SETTINGS, 0, 0), headers(1, CALL), frame(TYPE.RST_STREAM, 0, 1, uint32(CANCEL))].map(bytesOf),
])

export type Acts = Readonly<Record<string, number>>

/**
 * Starts hostile clients on a thread of their own, so that their cost does not delay the clients whose answers are timed.
 * @returns ends the attack, and resolves with its acts when the last one is over
 */
export function attack(url: string, seed: number, perSecond: number): () => Promise<Acts> {
  const worker = new Worker(new URL('./attacker.js', import.meta.url), { workerData: { url, seed, perSecond } })
  return () =>
    new Promise((resolve, reject) => {
      worker.once('error', reject)
      worker.once('message', resolve)
      worker.postMessage('end')
    })
}

const MEBIBYTE = 2 ** 20

export function residentMiB(pid: number): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')
  return (Number(pages) * 4096) / MEBIBYTE
}

export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

export interface Sample {
  readonly seconds: number
  readonly value: number
}

/** Returns the slope of the least-squares line through the samples, as growth a minute. */
export function slopePerMinute(samples: readonly Sample[]): number {
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length
  const at = mean(samples.map(({ seconds }) => seconds))
  const level = mean(samples.map(({ value }) => value))
  const up = samples.reduce((sum, { seconds, value }) => sum + (seconds - at) * (value - level), 0)
  const along = samples.reduce((sum, { seconds }) => sum + (seconds - at) ** 2, 0)
  return along === 0 ? 0 : (60 * up) / along
}

/** Returns the minimum of each of `count` equal spans: retained memory without temporary peaks. */
export function floors(samples: readonly Sample[], count: number): readonly Sample[] {
  const size = Math.ceil(samples.length / count)
  const spans = Array.from({ length: count }, (_, at) => samples.slice(at * size, (at + 1) * size)).filter((span) => span.length > 0)
  return spans.map((span) => span.reduce((least, sample) => (sample.value < least.value ? sample : least)))
}
