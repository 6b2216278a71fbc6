import { LOAD_CORE, pinned, pinSelf, stopAll } from '../child.ts'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { environment, loadNow, tableText } from '../report.ts'
import { measureWorkers, workers } from '../serving.ts'
import {
  acceptCost,
  type Figures,
  hasRedis,
  launchesTable,
  type Measured,
  measureAlone,
  measureInTurns,
  measureStore,
  startRedis,
  storeTable,
  turnsTable,
} from './turns.ts'

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

async function compareWorkers(): Promise<void> {
  const upstream = await startUpstream()
  print(turnsTable('workers', await measureWorkers(upstream.url, { rounds: ROUNDS })))
  print(await acceptCost(upstream.url))
  await upstream.stop()
  const note = (text: string) => process.stderr.write(`${text}\n`)
  print(`${tableText(await workers({ short: isShort, note }))}\n`)
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
