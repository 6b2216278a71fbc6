import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { atMost, type Figure, type Scenario, shown } from '../report/figure.ts'
import { median } from '../report/statistics.ts'

const ROOT = new URL('../../', import.meta.url).pathname

/** Point 7: the time to be ready, and the size. */
export const startUp: Scenario = async (run) => {
  const upstream = await startUpstream()
  const times: number[] = []
  for (let launch = 0; launch < (run.short ? 3 : 11); launch += 1) {
    const proxy = await startCrosswalk(upstream.url)
    times.push(proxy.startMs)
    await proxy.stop()
  }
  await upstream.stop()
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, { dev?: true }> }
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  const figures: Figure[] = [
    atMost(7, 'from the start of `serve` to its first line', median(times), 'ms', 1000),
    shown(7, 'size of dist', sizeOf(join(ROOT, 'dist')) / 1024, 'KiB'),
    shown(7, 'dependencies named', Object.keys(dependencies).length, ''),
    shown(7, 'dependencies installed', installed.length, ''),
  ]
  return figures
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
