import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, cpuMs } from '../child.ts'
import { load } from '../load.ts'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { atMost, type Figure, type Run, type Scenario, shown } from '../report/figure.ts'
import { median } from '../report/statistics.ts'
import { uidAt } from '../rows.ts'

const CONNECTIONS = 4

/** Milliseconds between two requests of one connection: 2,000 per second in all, a load that leaves room for comparing. */
const EVERY = 2
const PATH = `/registry/v1/tags?id=${uidAt(1)}`

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
        atMost(6, `added by ${name} with ${COMPARED} comparisons a second, CPU`, 100 * more, '%', 25),
      ]
    }),
  ]
}

/** `diff.perSecond` without a limit. */
const UNLIMITED = 0

/** Warms a proxy, calls `limit`, which writes its settings, and measures it under them. */
async function sampleOf({ pid, url }: Child, { short }: Run, limit: () => void): Promise<Sample> {
  const asked = { url, path: PATH, connections: CONNECTIONS }
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
async function startHung(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((socket) => void socket.on('error', () => socket.destroy()).resume())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}
