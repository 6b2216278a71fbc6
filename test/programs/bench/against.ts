import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { type Child, cpuMs, LOAD_CORE, pinned, pinSelf, stopAll } from './child.ts'
import { load } from './load.ts'
import { CHECKOUT, startCrosswalk, startUpstream } from './proxies.ts'
import { environment, loadNow, median } from './report.ts'
import { PAGE_ROWS, uidAt } from './rows.ts'

const USAGE = `node .bench/against.js [--launches N] [--rest MS] [--path PATH]… [--mode v1] CHECKOUT…
  The CPU time of a request: this checkout against others, each started as its own image starts it.
  CHECKOUT     the folder of another checkout, built
  --launches   how often all of them are started; otherwise 5
  --rest       milliseconds from the start to the first request; otherwise 3000
  --path       what is asked; otherwise one resource by its id, and a page of ${PAGE_ROWS} rows
  --mode v1    everything is passed on to a v1 service; otherwise v2 answers`

const PATHS = [`/registry/v1/tags?id=${uidAt(1)}`, `/registry/v1/tags?limit=${PAGE_ROWS}`]
const ROWS = 10_000
const ROUNDS = 14
const WARM_MS = 2000
const TURN_MS = 250
const CONNECTIONS = 50

/** CPU time of a request in one turn, in microseconds. */
async function turn({ pid, url }: Child, path: string, ms: number): Promise<number> {
  const [cpu, started] = [cpuMs(pid), performance.now()]
  const { perSecond } = await load({ url, path, connections: CONNECTIONS, ms })
  return ((cpuMs(pid) - cpu) * 1e6) / (perSecond * (performance.now() - started))
}

/**
 * Runs one launch of all checkouts. They rest, are warmed up and are measured in turns, so that a busy machine affects all of them.
 * Every round begins with another checkout. Returns the times of each round.
 */
async function launch(
  upstream: Child,
  checkouts: readonly string[],
  path: string,
  { rest, flags }: { readonly rest: number; readonly flags: readonly string[] },
): Promise<readonly (readonly number[])[]> {
  const children: Child[] = []
  const isRested = rest > 0
  for (const checkout of checkouts) {
    const child = await startCrosswalk(upstream.url, { checkout, flags })
    children.push(child)
    // V8 decides in the first moments where it allocates. While the others start, this one would rest.
    if (!isRested) await turn(child, path, WARM_MS)
  }
  if (isRested) {
    await new Promise((resolve) => setTimeout(resolve, rest))
    for (const child of children) await turn(child, path, WARM_MS)
  }
  const rounds: number[][] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const times: number[] = []
    for (let at = 0; at < children.length; at += 1) {
      const next = (round + at) % children.length
      times[next] = await turn(children[next] as Child, path, TURN_MS)
    }
    rounds.push(times)
  }
  for (const child of children) await child.stop()
  return rounds
}

/** Returns a line for each checkout; the first is this one. The ratio of a launch is the median of the ratios of its rounds. */
function lines(checkouts: readonly string[], launches: readonly (readonly (readonly number[])[])[]): string {
  return checkouts
    .map((checkout, at) => {
      const micros = median(launches.map((rounds) => median(rounds.map((times) => times[at] ?? 0))))
      const ratios = launches.map((rounds) => median(rounds.map((times) => (times[at] ?? 0) / (times[0] ?? 0))))
      const all = ratios.map((ratio) => ratio.toFixed(3)).join(' ')
      return `  ${basename(checkout).padEnd(24)} ${micros.toFixed(1).padStart(6)} µs  × ${median(ratios).toFixed(3)}  (launches: ${all})\n`
    })
    .join('')
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    launches: { type: 'string', default: '5' },
    rest: { type: 'string', default: '3000' },
    path: { type: 'string', multiple: true, default: PATHS },
    mode: { type: 'string', default: 'v2' },
  },
})
if (positionals.length === 0) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}
const checkouts = [CHECKOUT, ...positionals]
const before = loadNow()
pinSelf(LOAD_CORE)
try {
  const upstream = await startUpstream(ROWS)
  const flags = values.mode === 'v2' ? [] : ['--upstream-v1', upstream.url, '--mode', values.mode]
  for (const path of values.path) {
    const launches: (readonly (readonly number[])[])[] = []
    for (let at = 0; at < Number(values.launches); at += 1)
      launches.push(await launch(upstream, checkouts, path, { rest: Number(values.rest), flags }))
    process.stdout.write(`${path}\n${lines(checkouts, launches)}`)
  }
} finally {
  stopAll()
}
process.stdout.write(`${environment(pinned, before)}\n`)
