import { setTimeout as delay } from 'node:timers/promises'
import { type Child, cpuMs } from '../child.ts'
import { type Load, type LoadOptions, load } from '../load.ts'
import { median, medianError } from '../report/statistics.ts'
import { uidAt } from '../rows.ts'

/** A process, or several, that are measured. */
export interface Measured {
  readonly name: string
  readonly child: Child
}

/** Medians of all turns. */
export interface Figures {
  readonly perSecond: number
  /** Microseconds of processor time for a request. */
  readonly cpu: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Microseconds of processor time that load and upstream take for a request; 0 if nobody asked. */
  readonly beside: number
}

/** One resource. */
export const ONE_ROW = `/registry/v1/tags?id=${uidAt(1)}`

const WARM_MS = 5000
const REST_MS = 3000
const TURN_MS = 500

interface TurnsSettings {
  readonly rounds: number
  readonly warmed?: () => Promise<void>
  /** Makes the requests of one turn of `ms` milliseconds. */
  readonly asks?: (options: LoadOptions) => Promise<Load>
  readonly ms?: number
  readonly path?: string
  /** Returns the processor time of load and upstream so far, in milliseconds. */
  readonly besideMs?: () => number
}

/** Asks each for the same, one resource by default, in turns, so that other work of the machine affects all. */
export async function measureInTurns(
  all: readonly Measured[],
  { rounds, warmed = async () => {}, asks = load, ms: turnMs = TURN_MS, path = ONE_ROW, besideMs = () => 0 }: TurnsSettings,
): Promise<ReadonlyMap<string, Figures>> {
  const turns = new Map<string, Figures[]>(all.map(({ name }) => [name, []]))
  const turn = async (child: Child, ms: number): Promise<Figures> => {
    const [before, besideBefore] = [cpuMs(child.pid), besideMs()]
    const { perSecond, p50, p99 } = await asks({ url: child.url, path, connections: 50, ms })
    const ofRequest = (spentMs: number) => (spentMs * 1000) / (perSecond * (ms / 1000))
    return { perSecond, p50, p99, cpu: ofRequest(cpuMs(child.pid) - before), beside: ofRequest(besideMs() - besideBefore) }
  }
  await delay(REST_MS)
  for (const { child } of all) await turn(child, WARM_MS)
  await warmed()
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, child } of all) turns.get(name)?.push(await turn(child, turnMs))
  }
  return new Map([...turns].map(([name, some]) => [name, medians(some)]))
}

function medians(turns: readonly Figures[]): Figures {
  const of = (what: keyof Figures) => median(turns.map((turn) => turn[what]))
  return { perSecond: of('perSecond'), cpu: of('cpu'), p50: of('p50'), p99: of('p99'), beside: of('beside') }
}

/** One line for each, and its ratio to the first. */
export function turnsTable(title: string, figures: ReadonlyMap<string, Figures>): string {
  const [first] = figures.values()
  const lines = [...figures].map(([name, { perSecond, cpu, p50, p99 }]) => {
    const rate = `${Math.round(perSecond)} (${(perSecond / (first?.perSecond ?? 1)).toFixed(3)} ×)`
    return `| ${name} | ${rate} | ${cpu.toFixed(1)} µs (${(cpu / (first?.cpu ?? 1)).toFixed(3)} ×) | ${p50.toFixed(2)} ms | ${p99.toFixed(2)} ms |`
  })
  return [`| ${title} | requests/s | CPU of a request | p50 | p99 |`, '|---|---|---|---|---|', ...lines, ''].join('\n')
}

/** One line for each: the medians of all launches. A ratio is the median of those inside each launch, and its error that of the median. */
export function launchesTable(title: string, launches: readonly ReadonlyMap<string, Figures>[]): string {
  const [first] = launches[0]?.keys() ?? []
  const values = (name: string, what: keyof Figures) => launches.map((figures) => figures.get(name)?.[what] ?? Number.NaN)
  const ratio = (name: string, what: keyof Figures) => {
    const base = values(first ?? '', what)
    const ratios = values(name, what).map((value, at) => value / (base[at] ?? Number.NaN))
    return `${median(ratios).toFixed(3)} × ± ${medianError(ratios).toFixed(3)}`
  }
  const lines = [...(launches[0]?.keys() ?? [])].map((name) => {
    const rate = `${Math.round(median(values(name, 'perSecond')))} (${ratio(name, 'perSecond')})`
    const times = (['p50', 'p99'] as const).map((what) => `${median(values(name, what)).toFixed(2)} ms`)
    return `| ${name} | ${rate} | ${median(values(name, 'cpu')).toFixed(1)} µs (${ratio(name, 'cpu')}) | ${times.join(' | ')} |`
  })
  return [`| ${title} | requests/s | CPU of a request | p50 | p99 |`, '|---|---|---|---|---|', ...lines, ''].join('\n')
}
