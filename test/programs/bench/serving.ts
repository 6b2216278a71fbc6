import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, cpuMs, listening, rssMiB } from './child.ts'
import { hasLightLoad, lightLoad, measureInTurns, ONE_ROW, startRecorded, waitedForMs } from './fleet/turns.ts'
import { load } from './load.ts'
import { startCrosswalk, startSandbox, startUpstream } from './proxies.ts'
import { atLeast, atMost, type Figure, line, median, percentile, type Run, type Scenario, shown } from './report.ts'
import { keepAsking, readList, watchMemory } from './rows.ts'
import { OWNER } from './scenarios.ts'

const ROOT = new URL('../', import.meta.url).pathname
const DIST = join(ROOT, 'dist')

/** Milliseconds after the first answer until the memory of an idle process is read. */
const IDLE_MS = 1500

/** One start, until its first answer. */
interface Launch {
  readonly lineMs: number
  readonly answerMs: number
  readonly cpuMs: number
  readonly rssMiB: number
}

const TWO = ['--workers', '2']

/** Point 7: the time to the first answer, processor time, memory, and the size. One process and two workers start in turns. */
export const startUp: Scenario = async (run) => {
  const upstream = await startUpstream()
  const [launches, ofTwo]: [Launch[], Launch[]] = [[], []]
  for (let nth = 0; nth < (run.short ? 3 : 11); nth += 1) {
    launches.push(await launch(upstream.url))
    ofTwo.push(await launch(upstream.url, TWO))
  }
  await upstream.stop()
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, { dev?: true }> }
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  const value = (member: keyof Launch, of = launches) => median(of.map((one) => one[member]))
  return [
    shown(7, 'from the start of `serve` to its first line', value('lineMs'), 'ms'),
    atMost(7, 'from the start of `serve` to its first answer', value('answerMs'), 'ms', 230),
    shown(7, 'processor time until then', value('cpuMs'), 'ms'),
    atMost(7, 'memory while idle after it', value('rssMiB'), 'MiB', 85),
    shown(7, 'with two workers: from the start of `serve` to its first answer', value('answerMs', ofTwo), 'ms'),
    shown(7, 'with two workers: memory of the three processes while idle', value('rssMiB', ofTwo), 'MiB'),
    shown(7, 'size of dist without the bundle', (sizeOf(DIST) - sizeOf(join(DIST, 'bundle'))) / 1024, 'KiB'),
    shown(7, 'size of the bundle', sizeOf(join(DIST, 'bundle')) / 1024, 'KiB'),
    shown(7, 'dependencies named', Object.keys(dependencies).length, ''),
    shown(7, 'dependencies installed', installed.length, ''),
  ]
}

async function launch(upstream: string, flags: readonly string[] = []): Promise<Launch> {
  const began = performance.now()
  const proxy = await startCrosswalk(upstream, { flags })
  await (await fetch(`${proxy.url}/iam/v1/groups?id=1`)).arrayBuffer()
  const answered = { lineMs: proxy.startMs, answerMs: performance.now() - began, cpuMs: cpuMs(proxy.pid) }
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const idle = rssMiB(proxy.pid)
  await proxy.stop()
  return { ...answered, rssMiB: idle }
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

const SIZES = [200, 1000, 5000, 20_000, 50_000, 100_000]
const LISTS = 200
const ROWS = 10_000
const LATENCY = 20

/** Point 5: the cost of a row, and many lists at once. */
export const growth: Scenario = async (run) => [...(await linear(run)), ...(await crowd(run))]

const linear: Scenario = async (run) => {
  const upstream = await startUpstream(SIZES.at(-1))
  const proxy = await startCrosswalk(upstream.url)
  const time = async (rows: number) => (await readList({ url: proxy.url, path: `/registry/v1/tags?limit=${rows}` })).ms
  for (let warmUp = 0; warmUp < (run.short ? 3 : 20); warmUp += 1) await time(20_000)
  const times = SIZES.map((): number[] => [])
  // The sizes take turns, so that changes over time affect all of them.
  for (let again = 0; again < (run.short ? 3 : 15); again += 1) {
    for (const [at, rows] of SIZES.entries()) times[at]?.push(await time(rows))
  }
  const points = SIZES.map((rows, at): [number, number] => [rows, median(times[at] ?? [])])
  await proxy.stop()
  await upstream.stop()
  const { slope, base, r2 } = line(points)
  return [
    ...points.map(([rows, ms]) => shown(5, `${rows} rows`, ms, 'ms')),
    shown(5, 'time of a row, by the fit', slope * 1000, 'µs'),
    shown(5, 'time of an empty list, by the fit', base, 'ms'),
    atLeast(5, 'how linear that is (r²)', r2, '', 0.98),
  ]
}

const crowd: Scenario = async () => {
  const upstream = await startUpstream(ROWS, LATENCY)
  const proxy = await startCrosswalk(upstream.url)
  for (let warmUp = 0; warmUp < 50; warmUp += 1) await readList({ url: proxy.url, path: '/registry/v1/tags' })
  const grown = watchMemory(proxy, rssMiB(proxy.pid))
  const started = performance.now()
  const lists = Array.from({ length: LISTS }, (_, at) => readList({ url: proxy.url, path: '/registry/v1/tags', caller: `list-${at}` }))
  const singles = await keepAsking({ url: proxy.url, path: ONE_ROW, caller: 'single' }, Promise.all(lists))
  const figures: Figure[] = [
    shown(5, `${LISTS} lists of ${ROWS} rows at once`, performance.now() - started, 'ms'),
    atMost(5, 'memory above idle, at its peak', grown(), 'MiB', 256),
    shown(5, 'single reads beside them', singles.length, ''),
    atMost(5, 'a single read beside them, p99', percentile(singles, 0.99), 'ms', 500),
  ]
  await proxy.stop()
  await upstream.stop()
  return figures
}

const CONNECTIONS = 4

/** Milliseconds between two requests of one connection: 2,000 per second in all, a load that leaves room for comparing. */
const EVERY = 2

/** One measurement of a mode: 99th percentile in milliseconds, CPU time of a request in microseconds. */
interface Sample {
  readonly p99: number
  readonly cpu: number
}

/** Comparisons per second, as by default. */
const COMPARED = 100

/**
 * Point 6: how comparing affects clients and costs the processor, whether the other side answers or hangs. A process that compares a
 * hundred times a second takes minutes until its code for that is compiled. It compares without a limit before it is measured. V8 compiles
 * some of it anew when the limit comes, which takes two seconds.
 */
export const diff: Scenario = async (run) => {
  const upstream = await startUpstream()
  const hung = await startHung()
  const folder = mkdtempSync(join(tmpdir(), 'bench-diff-'))
  const file = join(folder, 'crosswalk.json')
  const compare = (perSecond: number) => writeFileSync(file, JSON.stringify({ diff: { perSecond } }))
  const comparing = (v1: string) => ({ CROSSWALK_MODE: 'diff-v2', CROSSWALK_UPSTREAM_V1: v1, CROSSWALK_CONFIG: file })
  const kinds = [
    { name: 'v2 alone', env: {} },
    { name: 'diff-v2, v1 answering', env: comparing(upstream.url) },
    { name: 'diff-v2, v1 hung', env: comparing(hung.url) },
  ]
  const rounds: Sample[][] = []
  for (let launch = 0; launch < (run.short ? 2 : 5); launch += 1) {
    const round: Sample[] = []
    for (const { env } of kinds) {
      compare(UNLIMITED)
      const proxy = await startCrosswalk(upstream.url, { env })
      round.push(await sampleOf(proxy, run, () => compare(COMPARED)))
      await proxy.stop()
    }
    rounds.push(round)
  }
  rmSync(folder, { recursive: true })
  hung.close()
  await upstream.stop()
  const of = (at: number, member: keyof Sample) => median(rounds.map((round) => round[at]?.[member] ?? Number.NaN))
  const load = `single read at ${(1000 / EVERY) * CONNECTIONS} requests/s, v2 alone`
  return [
    shown(6, `${load}, p99`, of(0, 'p99'), 'ms'),
    shown(6, `${load}, CPU`, of(0, 'cpu'), 'µs/request'),
    ...kinds.slice(1).flatMap(({ name }, before): readonly Figure[] => {
      const more = median(rounds.map((round) => (round[before + 1]?.cpu ?? Number.NaN) / (round[0]?.cpu ?? Number.NaN) - 1))
      return [
        atMost(6, `added by ${name}, p99`, of(before + 1, 'p99') - of(0, 'p99'), 'ms', 1),
        atMost(6, `added by ${name} with ${COMPARED} comparisons a second, CPU`, 100 * more, '%', 15),
      ]
    }),
  ]
}

/** `diff.perSecond` without a limit. */
const UNLIMITED = 0

/** Warms a proxy, calls `limit`, which writes its settings, and measures it under them. */
async function sampleOf({ pid, url }: Child, { short }: Run, limit: () => void): Promise<Sample> {
  const asked = { url, path: ONE_ROW, connections: CONNECTIONS }
  await load({ ...asked, ms: short ? 1000 : 3000 })
  await load({ ...asked, ms: short ? 1000 : 3000, every: EVERY })
  limit()
  process.kill(pid, 'SIGHUP')
  await load({ ...asked, ms: short ? 500 : 3000, every: EVERY })
  const [cpu, started] = [cpuMs(pid), performance.now()]
  const { perSecond, p99 } = await load({ ...asked, ms: short ? 1000 : 3000, every: EVERY })
  return { p99, cpu: ((cpuMs(pid) - cpu) * 1e6) / (perSecond * (performance.now() - started)) }
}

/** Starts a v1 service that accepts every connection and never answers. */
async function startHung() {
  const server = createServer((socket) => void socket.on('error', () => socket.destroy()).resume())
  const url = await listening(server)
  server.unref()
  return { url, close: () => void server.close() }
}

/** A request that workers are asked beside wrk and nginx. */
interface LightRequest {
  readonly what: string
  readonly path: string
  /** Starts the v2 service whose answers nginx gives. */
  readonly v2: () => Promise<Child>
}

const REQUESTS: readonly LightRequest[] = [
  { what: 'one row', path: ONE_ROW, v2: () => startUpstream() },
  { what: 'a page of 200 rows', path: '/registry/v1/tags', v2: () => startUpstream(200) },
  { what: 'a list composed of several', path: '/iam/v1/rolebindings', v2: () => startSandbox() },
]

const ROUNDS = 10

/** Point 12: what a second worker brings while wrk and nginx, a light load and a light upstream, take their part of the two cores. */
export const workers: Scenario = async (run) => {
  if (!hasLightLoad()) {
    run.note('wrk or nginx is not installed, so that workers are not shown beside a light load')
    return []
  }
  const figures: Figure[] = []
  for (const request of REQUESTS) {
    figures.push(...(await besideLightLoad(request, run.short ? 2 : ROUNDS)))
    run.note(`workers: ${request.what} is measured`)
  }
  return figures
}

/** Two full cores carry 2p ÷ (p + l) times one worker, with p in a worker and l beside it for a request. */
async function besideLightLoad({ what, path, v2 }: LightRequest, rounds: number): Promise<readonly Figure[]> {
  const service = await v2()
  const light = await startRecorded(service.url, path, OWNER)
  await service.stop()
  const besideMs = () => cpuMs(light.pid) + waitedForMs()
  const measured = await measureWorkers(light.url, { rounds, asks: lightLoad, ms: 2000, path, besideMs })
  await light.stop()
  const [one, two] = [...measured.values()]
  if (!one || !two) throw new Error('one and two workers were not measured')
  return [
    shown(12, `${what}: 1 worker`, one.perSecond, 'requests/s'),
    shown(12, `${what}: 2 workers`, two.perSecond, 'requests/s'),
    shown(12, `${what}: CPU in one of two workers`, two.cpu, 'µs/request'),
    shown(12, `${what}: CPU of wrk and nginx beside them`, two.beside, 'µs/request'),
    shown(12, `${what}: what two cores allow by these`, (2 * two.cpu) / (two.cpu + two.beside), '×'),
    shown(12, `${what}: 2 workers ÷ 1`, two.perSecond / one.perSecond, '×'),
  ]
}

/** Workers may use both cores; load and upstream keep to one of them. */
export async function measureWorkers(upstream: string, settings: Parameters<typeof measureInTurns>[1]) {
  const start = (name: string, workers: number) =>
    startCrosswalk(upstream, { cores: '0-1', flags: ['--workers', String(workers)] }).then((child) => ({ name, child }))
  const ways = [await start('1 worker', 1), await start('2 workers', 2)]
  const figures = await measureInTurns(ways, settings)
  for (const { child } of ways) await child.stop()
  return figures
}
