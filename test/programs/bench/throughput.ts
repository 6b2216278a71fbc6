import net from 'node:net'
import { type Child, cpuMs, listening } from './child.ts'
import { type Load, type LoadOptions, load } from './load.ts'
import { BARE, BASELINE, type Contestant, CROSSWALK, contestants, scripts, startCrosswalk, startUpstream } from './proxies.ts'
import { atLeast, atMost, type Figure, lossesOf, median, type Run, type Scenario, shown } from './report.ts'
import { PAGE_ROWS, uidAt } from './rows.ts'

interface Question {
  readonly point: number
  readonly name: string
  readonly v1: string
  readonly v2: string
  readonly rows: number
  readonly least: number
  /** The least share of the requests of `bare`, if that is a goal. */
  readonly ofBare?: number
  readonly contestants: readonly Contestant[]
  /** Milliseconds without a request before the first one; more while others are warmed up. 0: no rest, and each proxy runs alone. */
  readonly rest: number
}

interface Sample extends Load {
  readonly cpuMicros: number
  readonly busy: number
}

/** One turn of a proxy: CPU time and elapsed time in milliseconds. */
interface Turn extends Load {
  readonly cpuMs: number
  readonly ms: number
}

/** A proxy, its request and its turns. */
interface Measured {
  readonly name: string
  readonly child: Child
  readonly asked: Omit<LoadOptions, 'ms'>
  readonly turns: Turn[]
}

const CONNECTIONS = 50

/** Those that rename members, and no others. */
const TRANSLATING = ['crosswalk', 'nginx + Lua', 'nginx + njs']

const LAUNCHES = 5

/** Turns of one launch. */
const TURNS = 4

/**
 * Least milliseconds between the start of a proxy and its first request, as behind a readiness probe. Node's speed depends on it.
 * In the first quiet seconds V8 forgets the shape of Node's ticks (`src/serve/listen/times.ts`). A proxy that does not prevent this stays slower.
 */
const REST = 3000

const ONE_RESOURCE: Question = {
  point: 1,
  name: 'one resource by id',
  v1: `/registry/v1/tags?id=${uidAt(1)}`,
  v2: `/registry/v2/tags/${uidAt(1)}`,
  rows: 0,
  least: 1.5,
  ofBare: 0.95,
  contestants: [...contestants(), ...scripts(), BARE],
  rest: REST,
}

/** Point 1: one resource by its id. Proxies without a quiet second are shown beside it. */
export const resource: Scenario = async (run) => {
  const figures = await compare(ONE_RESOURCE)(run)
  const unrested = { ...ONE_RESOURCE, name: `${ONE_RESOURCE.name}, asked from its first moment`, least: 1.45, rest: 0 }
  const besides = await compare({ ...unrested, contestants: contestants().slice(0, 2) })(run)
  return [...figures, ...besides.filter(({ unit }) => unit === '×')]
}

/** Point 2: a page of 200 rows. */
export const page: Scenario = compare({
  point: 2,
  name: '200-row page',
  v1: `/registry/v1/tags?limit=${PAGE_ROWS}`,
  v2: `/registry/v2/tags?page_size=${PAGE_ROWS}`,
  rows: PAGE_ROWS,
  least: 1.2,
  contestants: [...contestants(), ...scripts(), BARE],
  rest: REST,
})

/** Starts Crosswalk in mode `v1`, with a v1 service that answers. */
const inModeV1 = (v1: string, v2: string) => startCrosswalk(v2, { flags: ['--upstream-v1', v1, '--mode', 'v1'] })

/**
 * Point 13: requests that Crosswalk passes on as they came, beside the peers. Mode `v1` is the first step of every migration, also while
 * v2 takes calls and answers none. Native calls of v2 are the way of each client that has moved.
 */
export const passing: Scenario = async (run) => {
  const hung = net.createServer((socket) => socket.on('error', () => socket.destroy()))
  const silent = await listening(hung)
  const ways: readonly Contestant[] = [
    { name: 'mode v1', translates: true, start: (upstream) => inModeV1(upstream, upstream) },
    { name: 'mode v1 while v2 hangs', translates: true, start: (upstream) => inModeV1(upstream, silent) },
    { name: 'native v2', translates: false, start: (upstream) => startCrosswalk(upstream) },
    ...contestants().filter(({ name }) => name !== CROSSWALK.name),
  ]
  const name = 'passing on'
  const samples = await sampled({ ...ONE_RESOURCE, point: 13, name, contestants: ways }, run)
  hung.close()
  const costs = (who: string) => (samples.get(who) ?? []).map(({ cpuMicros }) => cpuMicros)
  const ratio = (who: string) => median(costs(BASELINE).map((cost, at) => cost / (costs(who)[at] ?? 0)))
  return [
    ...ways.map((way) => shown(13, `${name}: ${way.name}, CPU`, median(costs(way.name)), 'µs/request')),
    ...['mode v1', 'native v2'].map((way) => atLeast(13, `${name}: ${BASELINE} ÷ ${way}, CPU`, ratio(way), '×', 1.1)),
    shown(13, `${name}: ${BASELINE} ÷ mode v1 while v2 hangs, CPU`, ratio('mode v1 while v2 hangs'), '×'),
    shown(13, `${name}: ${BASELINE} ÷ http-proxy-3, CPU`, ratio('http-proxy-3'), '×'),
  ]
}

/**
 * Starts every proxy in a fresh process, launch after launch. Proxies that may rest run together and are measured in turns.
 * Other activity of the machine thus affects all of them.
 */
async function sampled(question: Question, run: Run): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const upstream = await startUpstream(question.rows)
  const samples = new Map<string, Sample[]>(question.contestants.map(({ name }) => [name, []]))
  const groups = question.rest > 0 ? [question.contestants] : question.contestants.map((each) => [each])
  for (let launch = 0; launch < (run.short ? 2 : LAUNCHES); launch += 1) {
    for (const group of groups) {
      for (const [name, sample] of await measure(group, question, upstream, run)) {
        samples.get(name)?.push(sample)
        run.note(`${question.name}, launch ${launch + 1}, ${name}: ${Math.round(sample.perSecond)} requests/s`)
      }
    }
  }
  await upstream.stop()
  return samples
}

function compare(question: Question): Scenario {
  return async (run) => {
    const samples = await sampled(question, run)
    return [...figures(question, samples), ...(question.rest > 0 ? await losses(question) : [])]
  }
}

/** Compares what the scripts answer with the answer of Crosswalk. */
async function losses({ point, name, v1, rows }: Question): Promise<readonly Figure[]> {
  const upstream = await startUpstream(rows)
  const answered = async ({ start }: Contestant): Promise<unknown> => {
    const child = await start(upstream.url)
    const answer = await (await fetch(child.url + v1)).json()
    await child.stop()
    return answer
  }
  const right = await answered(CROSSWALK)
  const all: Figure[] = []
  for (const script of scripts()) {
    const { values, orders } = lossesOf(right, await answered(script))
    all.push(shown(point, `${name}: ${script.name}, values that are missing or changed`, values, 'in an answer'))
    all.push(shown(point, `${name}: ${script.name}, objects in another order`, orders, 'in an answer'))
  }
  await upstream.stop()
  return all
}

async function measure(group: readonly Contestant[], { v1, v2, rest }: Question, upstream: Child, { short }: Run) {
  const proxies: Measured[] = []
  for (const { name, start, translates } of group) {
    const child = await start(upstream.url)
    proxies.push({ name, child, asked: { url: child.url, path: translates ? v1 : v2, connections: CONNECTIONS }, turns: [] })
  }
  await new Promise((resolve) => setTimeout(resolve, short ? 0 : rest))
  for (const { asked } of proxies) await load({ ...asked, ms: short ? 1000 : 5000 })
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const { child, asked, turns } of proxies) turns.push(await takeTurn(child, { ...asked, ms: short ? 100 : 500 }))
  }
  for (const { child } of proxies) await child.stop()
  return proxies.map(({ name, turns }) => [name, sampleOf(turns)] as const)
}

async function takeTurn({ pid }: Child, settings: LoadOptions): Promise<Turn> {
  const [cpu, started] = [cpuMs(pid), performance.now()]
  const result = await load(settings)
  return { ...result, cpuMs: cpuMs(pid) - cpu, ms: performance.now() - started }
}

function sampleOf(turns: readonly Turn[]): Sample {
  const sum = (of: (turn: Turn) => number) => turns.reduce((total, turn) => total + of(turn), 0)
  const [ms, used, requests] = [sum((turn) => turn.ms), sum((turn) => turn.cpuMs), sum(({ perSecond, ms }) => (perSecond * ms) / 1000)]
  const [p50, p99] = [median(turns.map((turn) => turn.p50)), median(turns.map((turn) => turn.p99))]
  return { perSecond: (requests * 1000) / ms, p50, p99, cpuMicros: (used * 1000) / requests, busy: used / ms }
}

function figures({ point, name, least, ofBare }: Question, samples: ReadonlyMap<string, readonly Sample[]>): readonly Figure[] {
  const of = (who: string, member: keyof Sample) => median((samples.get(who) ?? []).map((sample) => sample[member]))
  const ratiosOf = (who: string, by: string, member: keyof Sample) =>
    (samples.get(who) ?? []).map((sample, at) => sample[member] / (samples.get(by)?.[at]?.[member] ?? 0))
  const ratios = (who: string) => ratiosOf(who, BASELINE, 'perSecond')
  const all = [...samples.keys()].flatMap((who) => [
    shown(point, `${name}: ${who}`, of(who, 'perSecond'), 'requests/s'),
    shown(point, `${name}: ${who}, CPU`, of(who, 'cpuMicros'), 'µs/request'),
    shown(point, `${name}: ${who}, its core busy`, 100 * of(who, 'busy'), '%'),
  ])
  const others = [...samples.keys()].filter((who) => who !== BASELINE && who !== 'crosswalk')
  const besideBare = (share: number) => {
    const what = `${name}: crosswalk ÷ bare`
    return ofBare === undefined ? shown(point, what, share, '×') : atLeast(point, what, share, '×', ofBare)
  }
  return [
    ...all,
    ...others.map((who) => shown(point, `${name}: ${who} ÷ ${BASELINE}`, median(ratios(who)), '×')),
    ...TRANSLATING.filter((who) => samples.has('nginx') && samples.has(who)).map((who) =>
      shown(point, `${name}: ${who} ÷ nginx, CPU`, median(ratiosOf(who, 'nginx', 'cpuMicros')), '×'),
    ),
    atLeast(point, `${name}: crosswalk ÷ ${BASELINE}`, median(ratios('crosswalk')), '×', least),
    ...(samples.has('bare') ? [besideBare(median(ratiosOf('crosswalk', 'bare', 'perSecond')))] : []),
    shown(point, `${name}: ${BASELINE}, p99`, of(BASELINE, 'p99'), 'ms'),
    atMost(point, `${name}: crosswalk, p99`, of('crosswalk', 'p99'), 'ms', of(BASELINE, 'p99')),
  ]
}
