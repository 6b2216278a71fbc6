import { type Received, readList } from '../listing.ts'
import { bareLists, startCrosswalk, startUpstream } from '../proxies.ts'
import { atMost, type Figure, type Scenario, shown } from '../report/figure.ts'
import { median } from '../report/statistics.ts'
import { PAGE_ROWS } from '../rows.ts'

const ROWS = 10_000
const LATENCY = 20
const PARALLEL = 8
const IDEAL = (1 + Math.ceil((ROWS / PAGE_ROWS - 1) / PARALLEL)) * LATENCY

/** Windows are read in the default order. A list in any other order is read by its cursor. */
const BY_WINDOWS = '/registry/v1/tags'
const BY_CURSOR = '/registry/v1/tags?order_by=name'

/** Point 3: a full list of 10,000 rows at 20 ms a page. */
export const fullList: Scenario = async (run) => {
  const upstream = await startUpstream(ROWS, LATENCY)
  const windows: Received[] = []
  const cursor: Received[] = []
  const bare: number[] = []
  for (let launch = 0; launch < (run.short ? 2 : 5); launch += 1) {
    const proxy = await startCrosswalk(upstream.url)
    for (let warmUp = 0; warmUp < 10; warmUp += 1) await readList({ url: proxy.url, path: BY_WINDOWS })
    windows.push(await readList({ url: proxy.url, path: BY_WINDOWS }))
    cursor.push(await readList({ url: proxy.url, path: BY_CURSOR }))
    bare.push(...bareLists(upstream.url, ROWS, PARALLEL, 10).slice(3))
    run.note(`full list, launch ${launch + 1}: ${Math.round(windows.at(-1)?.ms ?? 0)} ms by windows`)
    await proxy.stop()
  }
  await upstream.stop()
  const of = (lists: readonly Received[], member: keyof Received) => median(lists.map((list) => list[member]))
  const figures: Figure[] = [
    shown(3, `${ROWS} rows at ${LATENCY} ms a page: ideal with parallelism ${PARALLEL}`, IDEAL, 'ms'),
    shown(3, 'the same pages read by a client that does nothing with them', median(bare), 'ms'),
    atMost(3, 'the list by windows', of(windows, 'ms'), 'ms', IDEAL * 1.05),
    shown(3, 'the list by its cursor', of(cursor, 'ms'), 'ms'),
    atMost(3, 'the first byte, by windows', of(windows, 'firstMs'), 'ms', of(windows, 'ms') - LATENCY),
  ]
  return figures
}
