import { type Child, cpuMs } from '../child.ts'
import { hasLightLoad, lightLoad, waitedForMs } from '../fleet/light-load.ts'
import { startRecorded } from '../fleet/recorded.ts'
import { measureInTurns, ONE_ROW } from '../fleet/turns.ts'
import { startCrosswalk, startSandbox, startUpstream } from '../proxies.ts'
import { atLeast, type Figure, type Scenario, shown } from '../report/figure.ts'
import { OWNER } from './seeded.ts'

/** A request that workers are asked beside wrk and nginx. */
interface LightRequest {
  readonly what: string
  readonly path: string
  /** Starts the v2 service whose answers nginx gives. */
  readonly v2: () => Promise<Child>
  /** How many times the requests of one worker two must answer. */
  readonly least?: number
}

const REQUESTS: readonly LightRequest[] = [
  { what: 'one row', path: ONE_ROW, v2: () => startUpstream() },
  { what: 'a page of 200 rows', path: '/registry/v1/tags', v2: () => startUpstream(200) },
  { what: 'a list composed of several', path: '/iam/v1/rolebindings', v2: () => startSandbox(), least: 1.6 },
]

const ROUNDS = 10

/** Point 12: what a second worker brings while wrk and nginx, a light load and a light upstream, take their part of the two cores. */
export const workers: Scenario = async (run) => {
  if (!hasLightLoad()) {
    run.note('wrk or nginx is not installed, so that workers are not shown beside a light load')
    return []
  }
  const figures: Figure[] = []
  for (const request of REQUESTS) {
    figures.push(...(await besideLightLoad(request, run.short ? 2 : ROUNDS)))
    run.note(`workers: ${request.what} is measured`)
  }
  return figures
}

/** Two full cores carry 2p ÷ (p + l) times one worker, with p in a worker and l beside it for a request. */
async function besideLightLoad({ what, path, v2, least }: LightRequest, rounds: number): Promise<readonly Figure[]> {
  const service = await v2()
  const light = await startRecorded(service.url, path, OWNER)
  await service.stop()
  const besideMs = () => cpuMs(light.pid) + waitedForMs()
  const measured = await measureWorkers(light.url, { rounds, asks: lightLoad, ms: 2000, path, besideMs })
  await light.stop()
  const [one, two] = [...measured.values()]
  if (!one || !two) throw new Error('one and two workers were not measured')
  const ratio = [`${what}: 2 workers ÷ 1`, two.perSecond / one.perSecond, '×'] as const
  return [
    shown(12, `${what}: 1 worker`, one.perSecond, 'requests/s'),
    shown(12, `${what}: 2 workers`, two.perSecond, 'requests/s'),
    shown(12, `${what}: CPU in one of two workers`, two.cpu, 'µs/request'),
    shown(12, `${what}: CPU of wrk and nginx beside them`, two.beside, 'µs/request'),
    shown(12, `${what}: what two cores allow by these`, (2 * two.cpu) / (two.cpu + two.beside), '×'),
    least === undefined ? shown(12, ...ratio) : atLeast(12, ...ratio, least),
  ]
}

/** Workers may use both cores; load and upstream keep to one of them. */
export async function measureWorkers(upstream: string, settings: Parameters<typeof measureInTurns>[1]) {
  const start = (name: string, workers: number) =>
    startCrosswalk(upstream, { cores: '0-1', flags: ['--workers', String(workers)] }).then((child) => ({ name, child }))
  const ways = [await start('1 worker', 1), await start('2 workers', 2)]
  const figures = await measureInTurns(ways, settings)
  for (const { child } of ways) await child.stop()
  return figures
}
