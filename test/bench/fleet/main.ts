import { type Child, cpuMs, LOAD_CORE, pinned, pinSelf, stopAll } from '../child.ts'
import { startCrosswalk, startSandbox, startUpstream } from '../proxies.ts'
import { environment, loadNow } from '../report/report.ts'
import { OWNER } from '../scenarios/seeded.ts'
import { acceptCost } from './accept-cost.ts'
import { hasRedis, startRedis } from './bench-redis.ts'
import { hasLightLoad, lightLoad, waitedForMs } from './light-load.ts'
import { startRecorded } from './recorded.ts'
import { measureAlone, measureStore, storeTable } from './store-cpu.ts'
import { type Figures, launchesTable, type Measured, measureInTurns, ONE_ROW, turnsTable } from './turns.ts'

/**
 * Measures what a store costs the requests of one process, what replicas cost their store, and what a second worker brings. Everything
 * that is compared is measured in turns of one run. Takes ten minutes; `--short` takes one, and `workers` alone takes three.
 */
const isShort = process.argv.includes('--short')
const onlyWorkers = process.argv.includes('workers')
const ROUNDS = isShort ? 4 : 40
const LAUNCHES = isShort ? 1 : 10

const print = (text: string) => process.stdout.write(`${text}\n`)

/**
 * Without a store, with one, and with one that stops answering after the warm-up. Two launches of the same process differ by some percent:
 * each launch compares its own four, and the table has the medians of all launches.
 */
async function compareStores(): Promise<void> {
  const upstream = await startUpstream()
  const launches = []
  for (let launch = 0; launch < LAUNCHES; launch += 1) launches.push(await oneLaunch(upstream.url, launch))
  print(launchesTable('one process', launches))
  await upstream.stop()
}

/** The order in which the four start moves on by one with each launch. */
async function oneLaunch(upstream: string, launch: number): Promise<ReadonlyMap<string, Figures>> {
  const [answering, frozen] = [await startRedis(), await startRedis()]
  const stores: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['without a store', {}],
    ['with a store', { CROSSWALK_STORE_URL: answering.store }],
    ['with a frozen store', { CROSSWALK_STORE_URL: frozen.store }],
    ['without a store, again', {}],
  ]
  const ways: Measured[] = []
  for (const at of stores.keys()) {
    const [name, env] = stores[(at + launch) % stores.length] ?? ['', {}]
    ways.push({ name, child: await startCrosswalk(upstream, { env }) })
  }
  const figures = await measureInTurns(ways, { rounds: ROUNDS / 4, warmed: async () => frozen.freeze() })
  for (const { child } of [...ways, { child: answering }, { child: frozen }]) await child.stop()
  return new Map(stores.map(([name]) => [name, figures.get(name) as Figures]))
}

/** Workers may use both cores; load and upstream keep to one of them. */
async function compareWorkers(): Promise<void> {
  const upstream = await startUpstream()
  print(turnsTable('workers', await measureWorkers(upstream.url, { rounds: ROUNDS })))
  print(await acceptCost(upstream.url))
  if (hasLightLoad()) for (const request of REQUESTS) await compareBesideLightLoad(request)
  else print('wrk or nginx is not installed, so that workers are not shown beside a light load')
  await upstream.stop()
}

/** A request that workers are asked beside wrk and nginx. */
interface LightRequest {
  readonly what: string
  readonly path: string
  /** Starts the v2 service whose answers nginx gives. */
  readonly v2: () => Promise<Child>
  /** How many times the requests of one worker two must answer. */
  readonly least?: number
}

const REQUESTS: readonly LightRequest[] = [
  { what: 'one row', path: ONE_ROW, v2: () => startUpstream() },
  { what: 'a page of 200 rows', path: '/registry/v1/tags', v2: () => startUpstream(200) },
  { what: 'a list composed of several', path: '/iam/v1/rolebindings', v2: () => startSandbox(), least: 1.6 },
]

/** Two full cores carry 2p ÷ (p + l) times one worker, with p in a worker and l beside it for a request. */
async function compareBesideLightLoad({ what, path, v2, least }: LightRequest): Promise<void> {
  const service = await v2()
  const light = await startRecorded(service.url, path, OWNER)
  await service.stop()
  const besideMs = () => cpuMs(light.pid) + waitedForMs()
  const figures = await measureWorkers(light.url, { rounds: ROUNDS / 4, asks: lightLoad, ms: 2000, path, besideMs })
  await light.stop()
  print(turnsTable(`${what}, with wrk and nginx beside the workers`, figures))
  const [one, two] = [...figures.values()]
  if (!one || !two) return
  const ratio = two.perSecond / one.perSecond
  const allowed = (2 * two.cpu) / (two.cpu + two.beside)
  const bound = least === undefined ? '' : `, must be >= ${least} x: ${ratio >= least ? 'holds' : 'DOES NOT HOLD'}`
  print(`${what}: 2 workers ÷ 1 = ${ratio.toFixed(2)} x${bound}`)
  print(
    `a request takes ${two.cpu.toFixed(1)} µs in a worker and ${two.beside.toFixed(1)} µs beside it: two cores allow ${allowed.toFixed(2)} x\n`,
  )
}

async function measureWorkers(upstream: string, settings: Parameters<typeof measureInTurns>[1]) {
  const start = (name: string, workers: number) =>
    startCrosswalk(upstream, { cores: '0-1', flags: ['--workers', String(workers)] }).then((child) => ({ name, child }))
  const ways = [await start('1 worker', 1), await start('2 workers', 2)]
  const figures = await measureInTurns(ways, settings)
  for (const { child } of ways) await child.stop()
  return figures
}

async function compareReplicas(): Promise<void> {
  const upstream = await startUpstream()
  const alone = await measureAlone(upstream.url)
  const costs = []
  for (const [replicas, observations] of [
    [1, 0],
    [4, 0],
    [1, 100],
    [2, 100],
  ] as const) {
    costs.push(await measureStore(upstream.url, replicas, observations))
  }
  print(storeTable(costs))
  print(`a process without a store that serves nobody: ${(alone * 100).toFixed(2)} % of its core\n`)
  await upstream.stop()
}

const before = loadNow()
pinSelf(LOAD_CORE)
try {
  if (hasRedis() && !onlyWorkers) {
    await compareStores()
    await compareReplicas()
  } else if (!onlyWorkers) print('redis-server is not installed, so that nothing is said of stores')
  await compareWorkers()
  print(
    `${environment(pinned, before)}; medians of ${LAUNCHES} launches with ${ROUNDS / 4} turns each, and of ${ROUNDS} turns for workers; a turn is half a second of 50 clients`,
  )
} finally {
  stopAll()
}
