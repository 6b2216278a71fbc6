import { rssMiB } from '../child.ts'
import { keepAsking, readList } from '../listing.ts'
import { watchMemory } from '../memory.ts'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { atLeast, atMost, type Figure, type Scenario, shown } from '../report/figure.ts'
import { line, median, percentile } from '../report/statistics.ts'
import { uidAt } from '../rows.ts'

const SIZES = [200, 1000, 5000, 20_000, 50_000, 100_000]
const LISTS = 200
const ROWS = 10_000
const LATENCY = 20
const SINGLE = `/registry/v1/tags?id=${uidAt(1)}`

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
  const singles = await keepAsking({ url: proxy.url, path: SINGLE, caller: 'single' }, Promise.all(lists))
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
