import { LOAD_CORE, pinned, pinSelf, stopAll } from '../child.ts'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { environment } from '../report/report.ts'
import { acceptCost } from './accept-cost.ts'
import { hasRedis, startRedis } from './bench-redis.ts'
import { measureStore, storeTable } from './store-cpu.ts'
import { measureInTurns, turnsTable } from './turns.ts'

/**
 * Measures what a store costs the requests of one process, what replicas cost their store, and what a second worker brings. Everything
 * that is compared is measured in turns of one run. Takes three minutes; `--short` takes one.
 */
const isShort = process.argv.includes('--short')
const ROUNDS = isShort ? 4 : 40

const print = (text: string) => process.stdout.write(`${text}\n`)

/** Without a store, with one, and with one that stops answering after the warm-up. */
async function compareStores(): Promise<void> {
  const upstream = await startUpstream()
  const [answering, frozen] = [await startRedis(), await startRedis()]
  const start = (name: string, env: Readonly<Record<string, string>> = {}) =>
    startCrosswalk(upstream.url, { env }).then((child) => ({ name, child }))
  const ways = [
    await start('without a store'),
    await start('with a store', { CROSSWALK_STORE_URL: answering.store }),
    await start('with a frozen store', { CROSSWALK_STORE_URL: frozen.store }),
    await start('without a store, again'),
  ]
  const warmed = async () => frozen.freeze()
  print(turnsTable('one process', await measureInTurns(ways, { rounds: ROUNDS, warmed })))
  for (const { child } of [...ways, { child: answering }, { child: frozen }, { child: upstream }]) await child.stop()
}

/** Workers may use both cores; load and upstream keep to one of them. */
async function compareWorkers(): Promise<void> {
  const upstream = await startUpstream()
  const start = (name: string, workers: number) =>
    startCrosswalk(upstream.url, { cores: '0-1', flags: ['--workers', String(workers)] }).then((child) => ({ name, child }))
  const ways = [await start('1 worker', 1), await start('2 workers', 2)]
  print(turnsTable('workers', await measureInTurns(ways, { rounds: ROUNDS })))
  for (const { child } of ways) await child.stop()
  print(await acceptCost(upstream.url))
  await upstream.stop()
}

async function compareReplicas(): Promise<void> {
  const upstream = await startUpstream()
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
  await upstream.stop()
}

pinSelf(LOAD_CORE)
try {
  if (hasRedis()) {
    await compareStores()
    await compareReplicas()
  } else print('redis-server is not installed, so that nothing is said of stores')
  await compareWorkers()
  print(`${environment(pinned)}; medians of ${ROUNDS} turns of half a second, 50 clients`)
} finally {
  stopAll()
}
