import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, cpuMs, rssMiB } from '../child.ts'
import { startCrosswalk, startUpstream } from '../proxies.ts'
import { atMost, type Figure, type Scenario, shown } from '../report/figure.ts'
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

/** A form of the program, the bounds of its start, and how it starts. */
interface Form {
  readonly name: string
  readonly most: { readonly ms: number; readonly rssMiB: number } | undefined
  readonly start: (upstream: string) => Promise<Child>
}

const FORMS: readonly Form[] = [
  { name: 'the image', most: { ms: 350, rssMiB: 90 }, start: (upstream) => startCrosswalk(upstream) },
  { name: 'the package', most: undefined, start: (upstream) => startCrosswalk(upstream, { plain: true }) },
]

/** Point 7: the time to the first answer, processor time, memory, and the size. The forms of the program start in turns. */
export const startUp: Scenario = async (run) => {
  const upstream = await startUpstream()
  const launches: (readonly Launch[])[] = []
  for (let nth = 0; nth < (run.short ? 3 : 11); nth += 1) {
    const turn: Launch[] = []
    for (const { start } of FORMS) turn.push(await launch(() => start(upstream.url)))
    launches.push(turn)
  }
  await upstream.stop()
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object }
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, { dev?: true }> }
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  return [
    ...FORMS.flatMap((form, at) =>
      figuresOf(
        form,
        launches.flatMap((turn) => turn[at] ?? []),
      ),
    ),
    shown(7, 'size of dist without the bundle', (sizeOf(DIST) - sizeOf(join(DIST, 'bundle'))) / 1024, 'KiB'),
    shown(7, 'size of the bundle', sizeOf(join(DIST, 'bundle')) / 1024, 'KiB'),
    shown(7, 'dependencies named', Object.keys(dependencies).length, ''),
    shown(7, 'dependencies installed', installed.length, ''),
  ]
}

async function launch(start: () => Promise<Child>): Promise<Launch> {
  const began = performance.now()
  const proxy = await start()
  await (await fetch(`${proxy.url}/iam/v1/groups?id=1`)).arrayBuffer()
  const answered = { lineMs: proxy.startMs, answerMs: performance.now() - began, cpuMs: cpuMs(proxy.pid) }
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const idle = rssMiB(proxy.pid)
  await proxy.stop()
  return { ...answered, rssMiB: idle }
}

function figuresOf({ name, most }: Form, launches: readonly Launch[]): readonly Figure[] {
  const bounded = (what: string, member: keyof Launch, unit: string, bound: number | undefined) => {
    const value = median(launches.map((launch) => launch[member]))
    return bound === undefined ? shown(7, `${name}: ${what}`, value, unit) : atMost(7, `${name}: ${what}`, value, unit, bound)
  }
  return [
    bounded('from the start of `serve` to its first line', 'lineMs', 'ms', undefined),
    bounded('from the start of `serve` to its first answer', 'answerMs', 'ms', most?.ms),
    bounded('processor time until then', 'cpuMs', 'ms', undefined),
    bounded('memory while idle after it', 'rssMiB', 'MiB', most?.rssMiB),
  ]
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
