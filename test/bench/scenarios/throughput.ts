import { type Child, cpuMs } from '../child.ts'
import { atLeast, atMost, type Figure, type Run, type Scenario, shown } from '../figure.ts'
import { type Load, load } from '../load.ts'
import { BARE, BASELINE, type Contestant, contestants, startUpstream } from '../proxies.ts'
import { PAGE_ROWS, uidAt } from '../rows.ts'
import { median } from '../statistics.ts'

interface Question {
  readonly point: number
  readonly name: string
  readonly v1: string
  readonly v2: string
  readonly rows: number
  readonly least: number
  readonly contestants: readonly Contestant[]
  /** Milliseconds without a request before the first one. */
  readonly rest: number
}

interface Sample extends Load {
  readonly cpuMicros: number
  readonly busy: number
}

const CONNECTIONS = 50

/**
 * Milliseconds between the start of a proxy and its first request, as behind a readiness probe. What Node costs depends on it: in the first quiet
 * seconds V8 forgets the shape of Node's ticks (`src/listen/ticks.ts`), and a proxy that does not see to that is slower from then on.
 */
const REST = 3000

const ONE_RESOURCE: Question = {
  point: 1,
  name: 'one resource by id',
  v1: `/registry/v1/tags?id=${uidAt(1)}`,
  v2: `/registry/v2/tags/${uidAt(1)}`,
  rows: 0,
  least: 1.5,
  contestants: [...contestants(), BARE],
  rest: REST,
}

/** Point 1: one resource by its id; and, to be seen beside it, proxies that never had a quiet second. */
export const resource: Scenario = async (run) => {
  const figures = await compare(ONE_RESOURCE)(run)
  const unrested = { ...ONE_RESOURCE, name: `${ONE_RESOURCE.name}, asked from its first moment`, least: 0, rest: 0 }
  const besides = await compare({ ...unrested, contestants: contestants().slice(0, 2) })(run)
  return [...figures, ...besides.filter(({ unit }) => unit === '×').map(({ point, what, value, unit }) => shown(point, what, value, unit))]
}

/** Point 2: a page of 200 rows. */
export const page: Scenario = compare({
  point: 2,
  name: '200-row page',
  v1: `/registry/v1/tags?limit=${PAGE_ROWS}`,
  v2: `/registry/v2/tags?page_size=${PAGE_ROWS}`,
  rows: PAGE_ROWS,
  least: 0.7,
  contestants: contestants(),
  rest: REST,
})

/** Every proxy in turn, again and again, each time in a fresh process: whatever else the machine does meets all of them. */
function compare(question: Question): Scenario {
  return async (run) => {
    const upstream = await startUpstream(question.rows)
    const samples = new Map<string, Sample[]>(question.contestants.map(({ name }) => [name, []]))
    for (let launch = 0; launch < (run.short ? 2 : 5); launch += 1) {
      for (const contestant of question.contestants) {
        const sample = await measure(contestant, question, upstream, run)
        samples.get(contestant.name)?.push(sample)
        run.note(`${question.name}, launch ${launch + 1}, ${contestant.name}: ${Math.round(sample.perSecond)} requests/s`)
      }
    }
    await upstream.stop()
    return figures(question, samples)
  }
}

async function measure(contestant: Contestant, { v1, v2, rest }: Question, upstream: Child, { short }: Run): Promise<Sample> {
  const proxy = await contestant.start(upstream.url)
  const asked = { url: proxy.url, path: contestant.translates ? v1 : v2, connections: CONNECTIONS }
  await new Promise((resolve) => setTimeout(resolve, short ? 0 : rest))
  await load({ ...asked, ms: short ? 1000 : 5000 })
  const [cpu, started] = [cpuMs(proxy.pid), performance.now()]
  const result = await load({ ...asked, ms: short ? 500 : 2000 })
  const [used, elapsed] = [cpuMs(proxy.pid) - cpu, performance.now() - started]
  await proxy.stop()
  return { ...result, cpuMicros: (used * 1000) / (result.perSecond * (elapsed / 1000)), busy: used / elapsed }
}

function figures({ point, name, least }: Question, samples: ReadonlyMap<string, readonly Sample[]>): readonly Figure[] {
  const of = (who: string, member: keyof Sample) => median((samples.get(who) ?? []).map((sample) => sample[member]))
  const ratios = (who: string) =>
    (samples.get(who) ?? []).map((sample, at) => sample.perSecond / (samples.get(BASELINE)?.[at]?.perSecond ?? 0))
  const all = [...samples.keys()].flatMap((who) => [
    shown(point, `${name}: ${who}`, of(who, 'perSecond'), 'requests/s'),
    shown(point, `${name}: ${who}, CPU`, of(who, 'cpuMicros'), 'µs/request'),
    shown(point, `${name}: ${who}, its core busy`, 100 * of(who, 'busy'), '%'),
  ])
  const others = [...samples.keys()].filter((who) => who !== BASELINE && who !== 'crosswalk')
  return [
    ...all,
    ...others.map((who) => shown(point, `${name}: ${who} ÷ ${BASELINE}`, median(ratios(who)), '×')),
    atLeast(point, `${name}: crosswalk ÷ ${BASELINE}`, median(ratios('crosswalk')), '×', least),
    shown(point, `${name}: ${BASELINE}, p99`, of(BASELINE, 'p99'), 'ms'),
    ...(point === 1
      ? [atMost(point, `${name}: crosswalk, p99`, of('crosswalk', 'p99'), 'ms', of(BASELINE, 'p99'))]
      : [shown(point, `${name}: crosswalk, p99`, of('crosswalk', 'p99'), 'ms')]),
  ]
}
