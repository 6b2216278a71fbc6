import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { load } from '../load.ts'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { atMost, type Figure, type Scenario, shown } from '../report/figure.ts'
import { median } from '../report/statistics.ts'
import { uidAt } from '../rows.ts'

const CONNECTIONS = 4

/** Milliseconds between two requests of one connection: 2,000 per second in all, a load that leaves room for comparing. */
const EVERY = 2
const PATH = `/registry/v1/tags?id=${uidAt(1)}`

/** Point 6: how comparing affects clients, whether the other side answers or hangs. */
export const diff: Scenario = async (run) => {
  const upstream = await startUpstream()
  const hung = await startHung()
  const kinds = [
    { name: 'v2 alone', env: {} },
    { name: 'diff-v2, v1 answering', env: { CROSSWALK_MODE: 'diff-v2', CROSSWALK_UPSTREAM_V1: upstream.url } },
    { name: 'diff-v2, v1 hung', env: { CROSSWALK_MODE: 'diff-v2', CROSSWALK_UPSTREAM_V1: hung.url } },
  ]
  const p99 = new Map<string, number[]>(kinds.map(({ name }) => [name, []]))
  for (let launch = 0; launch < (run.short ? 2 : 9); launch += 1) {
    for (const { name, env } of kinds) {
      const proxy = await startCrosswalk(upstream.url, { env })
      const asked = { url: proxy.url, path: PATH, connections: CONNECTIONS }
      await load({ ...asked, ms: run.short ? 1000 : 3000 })
      await load({ ...asked, ms: run.short ? 200 : 1000, every: EVERY })
      p99.get(name)?.push((await load({ ...asked, ms: run.short ? 1000 : 3000, every: EVERY })).p99)
      await proxy.stop()
    }
  }
  hung.close()
  await upstream.stop()
  const [alone, ...others] = kinds.map(({ name }) => ({ name, ms: median(p99.get(name) ?? []) }))
  const figures: Figure[] = [
    shown(6, `single read at ${(1000 / EVERY) * CONNECTIONS} requests/s, v2 alone, p99`, alone?.ms ?? Number.NaN, 'ms'),
  ]
  for (const { name, ms } of others) figures.push(atMost(6, `added by ${name}, p99`, ms - (alone?.ms ?? 0), 'ms', 1))
  return figures
}

/** Starts a v1 service that accepts every connection and never answers. */
async function startHung(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((socket) => void socket.on('error', () => socket.destroy()).resume())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}
