import { type Child, rssMiB } from '../child.ts'
import { keepAsking, type Reading, readList } from '../listing.ts'
import { watchMemory } from '../memory.ts'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { atMost, type Scenario, shown } from '../report/figure.ts'
import { median, percentile } from '../report/statistics.ts'
import { uidAt } from '../rows.ts'

const ROWS = 100_000
const LISTS = 5
const LATENCY = 20
const PACE = 8 * 2 ** 20
const LIST = '/registry/v1/tags'
const SINGLE = `/registry/v1/tags?id=${uidAt(1)}`

/** Point 4: memory, stalls and other requests while a list of 100,000 rows streams. */
export const largeList: Scenario = async (run) => {
  const upstream = await startUpstream(ROWS, LATENCY)
  const proxy = await startCrosswalk(upstream.url, { probe: true })
  const single = { url: proxy.url, path: SINGLE, caller: 'neighbour' }
  // Warms up with lists of two pages and with single reads, until all the code of a request is loaded and compiled.
  for (let warmUp = 0; warmUp < (run.short ? 50 : 300); warmUp += 1) {
    await readList({ url: proxy.url, path: `${LIST}?limit=1200` })
    await readList(single)
  }
  const alone = await keepAsking(single, new Promise((resolve) => setTimeout(resolve, run.short ? 1000 : 5000)))
  const idle = rssMiB(proxy.pid)
  const fast: Streamed[] = []
  for (let list = 0; list < LISTS; list += 1) {
    fast.push(await streaming(proxy, { url: proxy.url, path: LIST }, single, idle))
    run.note(`large list: ${told(fast.at(-1))}`)
  }
  const slow = await streaming(proxy, { url: proxy.url, path: LIST, pace: PACE }, single, idle)
  run.note(`large list, slow client: ${told(slow)}`)
  await proxy.stop()
  await upstream.stop()
  return [
    shown(4, `${ROWS} rows, median of ${LISTS} lists`, median(fast.map(({ ms }) => ms)), 'ms'),
    atMost(4, 'memory above idle, at its peak', Math.max(...fast.map(({ growth }) => growth)), 'MiB', 12),
    atMost(4, 'the same with a client that reads 8 MB/s', slow.growth, 'MiB', 12),
    // A machine that pauses for a moment spoils one list and not the others.
    atMost(4, `longest stall of the event loop, median of ${LISTS} lists`, median(fast.map(({ stall }) => stall)), 'ms', 8),
    shown(4, 'a single read without a list beside it, p99', percentile(alone, 0.99), 'ms'),
    atMost(
      4,
      'a single read beside the list, p99',
      percentile(
        fast.flatMap(({ neighbours }) => neighbours),
        0.99,
      ),
      'ms',
      2 * percentile(alone, 0.99),
    ),
  ]
}

interface Streamed {
  readonly ms: number
  /** MiB above the idle process. */
  readonly growth: number
  readonly stall: number
  /** Milliseconds of the single reads during the list. */
  readonly neighbours: readonly number[]
}

const told = (streamed?: Streamed) =>
  streamed && `${streamed.ms.toFixed(0)} ms, +${streamed.growth.toFixed(1)} MiB, longest stall ${streamed.stall.toFixed(1)} ms`

async function streaming(proxy: Child, list: Reading, single: Reading, idle: number): Promise<Streamed> {
  const growth = watchMemory(proxy, idle)
  await proxy.stall()
  const reading = readList(list)
  const neighbours = await keepAsking(single, reading)
  return { ms: (await reading).ms, growth: growth(), stall: await proxy.stall(), neighbours }
}
