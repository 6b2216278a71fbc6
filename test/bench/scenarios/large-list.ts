import { type Child, rssMiB } from '../child.ts'
import { atMost, type Figure, type Scenario, shown } from '../figure.ts'
import { keepAsking, type Reading, readList } from '../listing.ts'
import { watchMemory } from '../memory.ts'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { uidAt } from '../rows.ts'
import { percentile } from '../statistics.ts'

const ROWS = 100_000
const LATENCY = 20
const PACE = 8 * 2 ** 20
const LIST = '/registry/v1/tags'
const SINGLE = `/registry/v1/tags?id=${uidAt(1)}`

/** Point 4: memory, stalls and neighbours while a list of 100,000 rows streams. */
export const largeList: Scenario = async (run) => {
  const upstream = await startUpstream(ROWS, LATENCY)
  const proxy = await startCrosswalk(upstream.url, { probe: true })
  const single = { url: proxy.url, path: SINGLE, caller: 'neighbour' }
  // Until everything that a request may need has been loaded and compiled: lists of two pages, and single reads.
  for (let warmUp = 0; warmUp < (run.short ? 50 : 300); warmUp += 1) {
    await readList({ url: proxy.url, path: `${LIST}?limit=1200` })
    await readList(single)
  }
  const alone = await keepAsking(single, new Promise((resolve) => setTimeout(resolve, run.short ? 1000 : 5000)))
  const fast = await streaming(proxy, { url: proxy.url, path: LIST }, single)
  run.note(`large list: ${Math.round(fast.ms)} ms, +${Math.round(fast.growth)} MiB`)
  const slow = await streaming(proxy, { url: proxy.url, path: LIST, pace: PACE }, single)
  await proxy.stop()
  await upstream.stop()
  const figures: Figure[] = [
    shown(4, `${ROWS} rows`, fast.ms, 'ms'),
    atMost(4, 'memory above idle, at its peak', fast.growth, 'MiB', 24),
    atMost(4, 'the same with a client that reads 8 MB/s', slow.growth, 'MiB', 24),
    atMost(4, 'longest stall of the event loop', fast.stall, 'ms', 10),
    shown(4, 'a single read without a list beside it, p99', percentile(alone, 0.99), 'ms'),
    atMost(4, 'a single read beside the list, p99', percentile(fast.neighbours, 0.99), 'ms', 2 * percentile(alone, 0.99)),
  ]
  return figures
}

async function streaming(proxy: Child, list: Reading, single: Reading) {
  const growth = watchMemory(proxy, rssMiB(proxy.pid))
  await proxy.stall()
  const reading = readList(list)
  const neighbours = await keepAsking(single, reading)
  return { ms: (await reading).ms, growth: growth(), stall: await proxy.stall(), neighbours }
}
