import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import http, { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Child, childrenOf, cpuMs, LOAD_CORE, listening, start } from '../child.ts'
import { type Load, type LoadOptions, load } from '../load.ts'
import { startCrosswalk } from '../proxies.ts'
import { hasNginx, startNginx } from '../relays/renaming.ts'
import { median, medianError } from '../report.ts'
import { uidAt } from '../rows.ts'

export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0
}

export interface BenchRedis extends Child {
  /** For `store.url`. */
  readonly store: string
  freeze(): void
}

/** Starts a Redis that keeps nothing on disk, on the core of the load. */
export async function startRedis(): Promise<BenchRedis> {
  const port = await freePort()
  const serve = 'exec redis-server --port "$0" --bind 127.0.0.1 --save "" >/dev/null'
  const child = await start(LOAD_CORE, ['sh', '-c', `echo "http://127.0.0.1:$0"; ${serve}`, String(port)])
  return {
    ...child,
    store: `redis://127.0.0.1:${port}`,
    freeze: () => void process.kill(child.pid, 'SIGSTOP'),
    async stop() {
      process.kill(child.pid, 'SIGCONT')
      await child.stop()
    },
  }
}

/** Returns a port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer()
  const { port } = new URL(await listening(server))
  server.close()
  return Number(port)
}

/**
 * A load and an upstream that take a fraction of what a proxy takes: wrk and nginx. On two cores they leave room for two workers, which the
 * load and the upstream of the other rows do not.
 */
export const hasLightLoad = () => hasNginx() && spawnSync('wrk', ['-v']).error === undefined

/** Returns the processor time of all programs that this process has waited for, such as wrk, in milliseconds. */
export function waitedForMs(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1')
  // The name of the program, in brackets, may hold spaces.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
  return (Number(user) + Number(system)) * TICK_MS
}

/** Linux tells programs of a hundred ticks a second. */
const TICK_MS = 10

const run = promisify(execFile)

/** Keeps clients busy as `load` does, each a caller of its own. Throws if an answer is not a 200. */
export async function lightLoad({ url, path, connections, ms }: LoadOptions): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'))
  const script = join(folder, 'callers.lua')
  writeFileSync(script, scriptOf(path, connections))
  const seconds = `${Math.max(1, Math.round(ms / 1000))}s`
  const { stdout } = await run('wrk', ['-t', '1', '-c', String(connections), '-d', seconds, '-s', script, url])
  const [, told = '{}'] = /^told (.+)$/m.exec(stdout) ?? []
  const { requests, micros, failed, p50, p99 } = JSON.parse(told) as Readonly<Record<string, number>>
  if (requests === undefined || micros === undefined || failed !== 0) throw new Error(`wrk printed: ${stdout}`)
  return { perSecond: requests / (micros / 1e6), p50: (p50 ?? Number.NaN) / 1000, p99: (p99 ?? Number.NaN) / 1000 }
}

/** wrk asks for each request in turn and prints what `done` writes; its times are in microseconds. */
function scriptOf(path: string, callers: number): string {
  return `
local requests, at = {}, 0
function init()
  for caller = 1, ${callers} do
    requests[caller] = wrk.format("GET", "${path}", { ["accept"] = "application/json", ["authorization"] = "Bearer caller-" .. caller })
  end
end
function request()
  at = at % ${callers} + 1
  return requests[at]
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('told {"requests":%d,"micros":%d,"failed":%d,"p50":%f,"p99":%f}',
    summary.requests, summary.duration, failed, latency:percentile(50), latency:percentile(99)))
end
`
}

/** The service that nginx never asks. */
const NOWHERE = 'http://127.0.0.1:1'

/**
 * Starts nginx with the answers that a v2 service gives to the calls for one v1 request, as files that the kernel keeps in memory.
 * It answers nothing else, so that a request with other calls fails.
 */
export async function startRecorded(v2: string, path: string, headers: Readonly<Record<string, string>>): Promise<Child> {
  const answers = [...(await record(v2, path, headers))]
  const names = answers.map(([target], nth) => `${JSON.stringify(target)} answer-${nth};`)
  const http = `map_hash_bucket_size 4096; map $request_uri $answer { default none; ${names.join(' ')} }`
  const server = 'default_type application/json; root .; open_file_cache max=100; location / { try_files /$answer =404; }'
  const files = Object.fromEntries(answers.map(([, body], nth) => [`answer-${nth}`, body]))
  return startNginx(NOWHERE, { listen: '', http, server, files }, LOAD_CORE)
}

/** Asks once through Crosswalk. Returns v2's answers by the targets of the calls. */
async function record(v2: string, path: string, headers: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>()
  const pass = async (target: string, asked: IncomingHttpHeaders, response: ServerResponse) => {
    const { authorization = '' } = asked
    const answer = await fetch(v2 + target, { headers: { authorization } })
    const body = await answer.text()
    // Crosswalk asks at its start whether v2 is there.
    if (answer.ok && asked['user-agent'] !== 'crosswalk') answers.set(target, body)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body)
  }
  const recorder = createServer(({ url = '', headers: asked }, response) => void pass(url, asked, response))
  const proxy = await startCrosswalk(await listening(recorder))
  const asked = await fetch(proxy.url + path, { headers })
  if (!asked.ok) throw new Error(`GET ${path}: ${await asked.text()}`)
  await asked.arrayBuffer()
  await proxy.stop()
  recorder.close()
  return answers
}

/** What some replicas cost their store. */
export interface StoreCost {
  readonly replicas: number
  /** Comparisons of new pairs that each replica makes in a second. */
  readonly observations: number
  /** Share of one core that the store and each replica used, 0–1. */
  readonly store: number
  readonly replica: number
}

const SECONDS = 10

/** Measures replicas that serve nobody, and replicas that compare so many requests a second, each of a caller of its own. */
export async function measureStore(upstream: string, replicas: number, observations: number): Promise<StoreCost> {
  const redis = await startRedis()
  const cost = await measured(upstream, { replicas, observations, redis })
  await redis.stop()
  return cost
}

/** Returns the share of a core that a process without a store uses while it serves nobody. */
export async function measureAlone(upstream: string): Promise<number> {
  return (await measured(upstream, { replicas: 1, observations: 0 })).replica
}

interface Asked {
  readonly replicas: number
  readonly observations: number
  readonly redis?: BenchRedis
}

async function measured(upstream: string, { replicas, observations, redis }: Asked): Promise<StoreCost> {
  const env = {
    ...(redis && { CROSSWALK_STORE_URL: redis.store }),
    CROSSWALK_UPSTREAM_V1: upstream,
    CROSSWALK_MODE: 'diff-v1',
    CROSSWALK_DIFF_PER_SECOND: '0',
  }
  const children: Child[] = []
  for (let at = 0; at < replicas; at += 1) children.push(await startCrosswalk(upstream, { env }))
  await drip(children, observations, 2)
  const used = () => [redis ? cpuMs(redis.pid) : 0, children.reduce((sum, { pid }) => sum + cpuMs(pid), 0)] as const
  const [store, own] = used()
  const begun = performance.now()
  await drip(children, observations, SECONDS)
  const ms = performance.now() - begun
  const [storeThen, ownThen] = used()
  for (const child of children) await child.stop()
  return { replicas, observations, store: (storeThen - store) / ms, replica: (ownThen - own) / ms / replicas }
}

let callers = 0

/** Sends each replica so many requests a second. */
async function drip(replicas: readonly Child[], perSecond: number, seconds: number): Promise<void> {
  const begun = performance.now()
  for (let tenth = 1; tenth <= seconds * 10; tenth += 1) {
    const asked = replicas.flatMap(({ url }) => Array.from({ length: perSecond / 10 }, () => ask(url)))
    await Promise.all(asked)
    await delay(Math.max(0, begun + tenth * 100 - performance.now()))
  }
}

async function ask(url: string): Promise<void> {
  callers += 1
  const answer = await fetch(`${url}/registry/v1/tags?id=1`, { headers: { authorization: `Bearer caller-${callers}` } })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
}

export function storeTable(costs: readonly StoreCost[]): string {
  const percent = (share: number) => `${(share * 100).toFixed(2)} %`
  const lines = costs.map(({ replicas, observations, store, replica }) => {
    return `| ${replicas} | ${observations} | ${percent(store)} | ${percent(store / replicas)} | ${percent(replica)} |`
  })
  const head =
    '| replicas | new observations/s of each | core of the store | of it, for each replica | core of a replica, with its requests |'
  return [head, '|---|---|---|---|---|', ...lines, ''].join('\n')
}

const MS = 3000
const LANES = 16

/** Returns one line: what a request on a connection of its own costs the supervisor, and its two workers. */
export async function acceptCost(upstream: string): Promise<string> {
  const child = await startCrosswalk(upstream, { cores: '0-1', flags: ['--workers', '2'] })
  await connectFor(child.url)
  const workers = () => childrenOf(child.pid).reduce((sum, pid) => sum + cpuMs(pid), 0)
  const [all, ofWorkers] = [cpuMs(child.pid), workers()]
  const requests = await connectFor(child.url)
  const [allMs, workerMs] = [cpuMs(child.pid) - all, workers() - ofWorkers]
  await child.stop()
  const micros = (ms: number) => `${((ms * 1000) / requests).toFixed(0)} µs`
  return `a connection for each request: ${micros(allMs - workerMs)} in the supervisor, ${micros(workerMs)} in a worker\n`
}

/** Returns the number of requests. */
async function connectFor(url: string): Promise<number> {
  const end = performance.now() + MS
  let requests = 0
  const lane = async (at: number) => {
    while (performance.now() < end) {
      await once(`${url}/registry/v1/tags?id=${uidAt(1)}`, `Bearer caller-${at}`)
      requests += 1
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, at) => lane(at)))
  return requests
}

function once(url: string, authorization: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, headers: { authorization, connection: 'close' } }, (answer) => {
      answer.resume().once('end', resolve).once('error', reject)
    })
    request.once('error', reject)
  })
}

/** A process, or several, that are measured. */
export interface Measured {
  readonly name: string
  readonly child: Child
}

/** Medians of all turns. */
export interface Figures {
  readonly perSecond: number
  /** Microseconds of processor time for a request. */
  readonly cpu: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Microseconds of processor time that load and upstream take for a request; 0 if nobody asked. */
  readonly beside: number
}

/** One resource. */
export const ONE_ROW = `/registry/v1/tags?id=${uidAt(1)}`

const WARM_MS = 5000
const REST_MS = 3000
const TURN_MS = 500

interface TurnsSettings {
  readonly rounds: number
  readonly warmed?: () => Promise<void>
  /** Makes the requests of one turn of `ms` milliseconds. */
  readonly asks?: (options: LoadOptions) => Promise<Load>
  readonly ms?: number
  readonly path?: string
  /** Returns the processor time of load and upstream so far, in milliseconds. */
  readonly besideMs?: () => number
}

/** Asks each for the same, one resource by default, in turns, so that other work of the machine affects all. */
export async function measureInTurns(
  all: readonly Measured[],
  { rounds, warmed = async () => {}, asks = load, ms: turnMs = TURN_MS, path = ONE_ROW, besideMs = () => 0 }: TurnsSettings,
): Promise<ReadonlyMap<string, Figures>> {
  const turns = new Map<string, Figures[]>(all.map(({ name }) => [name, []]))
  const turn = async (child: Child, ms: number): Promise<Figures> => {
    const [before, besideBefore] = [cpuMs(child.pid), besideMs()]
    const { perSecond, p50, p99 } = await asks({ url: child.url, path, connections: 50, ms })
    const ofRequest = (spentMs: number) => (spentMs * 1000) / (perSecond * (ms / 1000))
    return { perSecond, p50, p99, cpu: ofRequest(cpuMs(child.pid) - before), beside: ofRequest(besideMs() - besideBefore) }
  }
  await delay(REST_MS)
  for (const { child } of all) await turn(child, WARM_MS)
  await warmed()
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, child } of all) turns.get(name)?.push(await turn(child, turnMs))
  }
  return new Map([...turns].map(([name, some]) => [name, medians(some)]))
}

function medians(turns: readonly Figures[]): Figures {
  const of = (what: keyof Figures) => median(turns.map((turn) => turn[what]))
  return { perSecond: of('perSecond'), cpu: of('cpu'), p50: of('p50'), p99: of('p99'), beside: of('beside') }
}

/** One line for each, and its ratio to the first. */
export function turnsTable(title: string, figures: ReadonlyMap<string, Figures>): string {
  const [first] = figures.values()
  const lines = [...figures].map(([name, { perSecond, cpu, p50, p99 }]) => {
    const rate = `${Math.round(perSecond)} (${(perSecond / (first?.perSecond ?? 1)).toFixed(3)} ×)`
    return `| ${name} | ${rate} | ${cpu.toFixed(1)} µs (${(cpu / (first?.cpu ?? 1)).toFixed(3)} ×) | ${p50.toFixed(2)} ms | ${p99.toFixed(2)} ms |`
  })
  return [`| ${title} | requests/s | CPU of a request | p50 | p99 |`, '|---|---|---|---|---|', ...lines, ''].join('\n')
}

/** One line for each: the medians of all launches. A ratio is the median of those inside each launch, and its error that of the median. */
export function launchesTable(title: string, launches: readonly ReadonlyMap<string, Figures>[]): string {
  const [first] = launches[0]?.keys() ?? []
  const values = (name: string, what: keyof Figures) => launches.map((figures) => figures.get(name)?.[what] ?? Number.NaN)
  const ratio = (name: string, what: keyof Figures) => {
    const base = values(first ?? '', what)
    const ratios = values(name, what).map((value, at) => value / (base[at] ?? Number.NaN))
    return `${median(ratios).toFixed(3)} × ± ${medianError(ratios).toFixed(3)}`
  }
  const lines = [...(launches[0]?.keys() ?? [])].map((name) => {
    const rate = `${Math.round(median(values(name, 'perSecond')))} (${ratio(name, 'perSecond')})`
    const times = (['p50', 'p99'] as const).map((what) => `${median(values(name, what)).toFixed(2)} ms`)
    return `| ${name} | ${rate} | ${median(values(name, 'cpu')).toFixed(1)} µs (${ratio(name, 'cpu')}) | ${times.join(' | ')} |`
  })
  return [`| ${title} | requests/s | CPU of a request | p50 | p99 |`, '|---|---|---|---|---|', ...lines, ''].join('\n')
}
