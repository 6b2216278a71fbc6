import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cpuMs, rssMiB } from '../child.ts'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { atMost, type Scenario, shown } from '../report/figure.ts'
import { median } from '../report/statistics.ts'

const ROOT = new URL('../../', import.meta.url).pathname
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
    atMost(7, 'from the start of `serve` to its first answer', value('answerMs'), 'ms', 350),
    shown(7, 'processor time until then', value('cpuMs'), 'ms'),
    atMost(7, 'memory while idle after it', value('rssMiB'), 'MiB', 90),
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
