import { type Child, cpuMs, rssMiB } from './child.ts'
import { BARE, BASELINE, bareLists, PASSING, startCrosswalk, startSandbox, startUpstream } from './proxies.ts'
import { atMost, type Figure, median, percentile, type Run, type Scenario, shown } from './report.ts'
import { keepAsking, PAGE_ROWS, type Reading, type Received, readList, uidAt, watchMemory } from './rows.ts'

/** The tokens of the sandbox's people. */
export const OWNER = { authorization: 'Bearer demo-owner' }
export const ADMIN = { authorization: 'Bearer demo-admin' }

/** Creates a resource through a proxy of the sandbox; returns its id. */
export async function create(url: string, path: string, body: object): Promise<string> {
  const answer = await fetch(url + path, { method: 'POST', headers: ADMIN, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`POST ${path}: ${await answer.text()}`)
  return ((await answer.json()) as { id: string }).id
}

/** Makes a group in the sandbox's organization; returns its id. */
export async function createGroup(url: string, name: string): Promise<string> {
  const { items } = (await (await fetch(`${url}/iam/v1/groups`, { headers: OWNER })).json()) as { items: readonly { id: string }[] }
  const organization = items.find(({ id }) => !id.includes('/'))?.id
  return create(url, `/iam/v1/groups/${organization}`, { name })
}

/** A request that one proxy is asked again and again. */
export interface Question {
  readonly what: string
  readonly proxy: Child
  readonly path: string
  readonly init: RequestInit
}

/** Processor time of the questions, each named by its place among them. */
export interface TurnTimes {
  /** The median of one question, in microseconds for a request. */
  time(at: number): number
  /** The median over the turns of one question's time divided by that of another. */
  ratio(at: number, by: number): number
}

/** Requests of one turn, one after the other. */
const TURN = 100

const LAUNCHES = 5

/** What is asked in one launch, and what ends its processes. */
export interface Launched {
  readonly questions: readonly Question[]
  stop(): Promise<void>
}

/**
 * Launches the processes anew again and again, and asks all questions in turns, so that other work of the machine affects all of them. Each
 * has one request at a time. A figure is the median over the launches.
 */
export async function inTurns(launch: () => Promise<Launched>, { short }: Run): Promise<TurnTimes> {
  const launches: TurnTimes[] = []
  for (let nth = 0; nth < (short ? 1 : LAUNCHES); nth += 1) {
    const { questions, stop } = await launch()
    launches.push(await turnsOf(questions, short ? 3 : 12))
    await stop()
  }
  return {
    time: (at) => median(launches.map(({ time }) => time(at))),
    ratio: (at, by) => median(launches.map(({ ratio }) => ratio(at, by))),
  }
}

async function turnsOf(questions: readonly Question[], count: number): Promise<TurnTimes> {
  const turns: (readonly number[])[] = []
  for (let nth = 0; nth < count; nth += 1) {
    const turn: number[] = []
    for (const question of questions) turn.push(await micros(question))
    turns.push(turn)
  }
  // The first turns compile.
  const warm = turns.slice(turns.length / 3)
  const timeIn = (turn: readonly number[], at: number) => turn[at] ?? Number.NaN
  return {
    time: (at) => median(warm.map((turn) => timeIn(turn, at))),
    ratio: (at, by) => median(warm.map((turn) => timeIn(turn, at) / timeIn(turn, by))),
  }
}

/** Throws if an answer is no success. */
async function micros({ proxy, path, init }: Question): Promise<number> {
  const before = cpuMs(proxy.pid)
  for (let nth = 0; nth < TURN; nth += 1) {
    const answer = await fetch(proxy.url + path, init)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${text}`)
  }
  return ((cpuMs(proxy.pid) - before) * 1000) / TURN
}

const ROWS = 50
const FEW = 12

/** A list, and how many times the processor time of the plain list it may take. */
interface List {
  readonly what: string
  readonly path: string
  readonly most: number
}

/**
 * Point 9: processor time of lists whose rows need more than v2 lists, for one request at a time, as a multiple of a plain list of 50 rows.
 * Readmes are kept, and everything is warm.
 */
export const composed: Scenario = async (run) => {
  const sandbox = await startSandbox()
  const launch = () => startCrosswalk(sandbox.url, { env: { CROSSWALK_KEEP_TTL_MS: '3600000' } })
  const first = await launch()
  const [many, few] = [await seeded(first.url, ROWS), await seeded(first.url, FEW)]
  await first.stop()
  const plain = { what: `plain list of ${ROWS} rows`, path: `/iam/v1/roles?uidp.children_of=${many}`, most: 1 }
  const lists: readonly List[] = [
    plain,
    { what: `${ROWS} repos with kept readmes`, path: `/registry/v1/repos?uidp.children_of=${many}`, most: 1.5 },
    { what: `${FEW} role bindings`, path: `/iam/v1/rolebindings?uidp.children_of=${few}`, most: 2 },
    { what: `${ROWS} role bindings`, path: `/iam/v1/rolebindings?uidp.children_of=${many}`, most: 2.5 },
  ]
  const { time, ratio } = await inTurns(async () => {
    const proxy = await launch()
    return { questions: lists.map(({ what, path }) => ({ what, proxy, path, init: { headers: OWNER } })), stop: proxy.stop }
  }, run)
  await sandbox.stop()
  return lists.flatMap(({ what, most }, at): readonly Figure[] => [
    shown(9, `${what}, CPU`, time(at), 'µs/request'),
    ...(at === 0 ? [] : [atMost(9, `${what} ÷ ${plain.what}, CPU`, ratio(at, 0), '×', most)]),
  ])
}

/** Makes a group with this number of repos, roles, and bindings of a role and an identity each; returns its id. */
async function seeded(url: string, rows: number): Promise<string> {
  const group = await createGroup(url, `rows ${rows}`)
  for (let nth = 0; nth < rows; nth += 1) {
    const claim_match = { issuer: 'https://issuer.example', subject: `robot ${nth}` }
    const identity = await create(url, `/iam/v1/identities/${group}`, { name: `robot ${nth}`, claim_match })
    const role = await create(url, `/iam/v1/roles/${group}`, { name: `role ${nth}`, capabilities: ['groups.list', 'repo.list'] })
    await create(url, `/iam/v1/rolebindings/${group}`, { identity, role })
    await create(url, `/registry/v1/repos/${group}`, { name: `repo-${nth}`, readme: `# Repo ${nth}\n\nWhat it holds.` })
  }
  return group
}

const FULL_LIST_ROWS = 10_000
const LATENCY = 20
const PARALLEL = 8
const IDEAL = (1 + Math.ceil((FULL_LIST_ROWS / PAGE_ROWS - 1) / PARALLEL)) * LATENCY

/** Windows are read in the default order. A list in any other order is read by its cursor. */
const BY_WINDOWS = '/registry/v1/tags'
const BY_CURSOR = '/registry/v1/tags?order_by=name'

/** Point 3: a full list of 10,000 rows at 20 ms a page. */
export const fullList: Scenario = async (run) => {
  const upstream = await startUpstream(FULL_LIST_ROWS, LATENCY)
  const windows: Received[] = []
  const cursor: Received[] = []
  const bare: number[] = []
  for (let launch = 0; launch < (run.short ? 2 : 5); launch += 1) {
    const proxy = await startCrosswalk(upstream.url)
    for (let warmUp = 0; warmUp < 10; warmUp += 1) await readList({ url: proxy.url, path: BY_WINDOWS })
    windows.push(await readList({ url: proxy.url, path: BY_WINDOWS }))
    cursor.push(await readList({ url: proxy.url, path: BY_CURSOR }))
    bare.push(...bareLists(upstream.url, FULL_LIST_ROWS, PARALLEL, 10).slice(3))
    run.note(`full list, launch ${launch + 1}: ${Math.round(windows.at(-1)?.ms ?? 0)} ms by windows`)
    await proxy.stop()
  }
  await upstream.stop()
  const of = (lists: readonly Received[], member: keyof Received) => median(lists.map((list) => list[member]))
  const figures: Figure[] = [
    shown(3, `${FULL_LIST_ROWS} rows at ${LATENCY} ms a page: ideal with parallelism ${PARALLEL}`, IDEAL, 'ms'),
    shown(3, 'the same pages read by a client that does nothing with them', median(bare), 'ms'),
    shown(3, 'the list by windows', of(windows, 'ms'), 'ms'),
    shown(3, 'the list by its cursor', of(cursor, 'ms'), 'ms'),
    atMost(3, 'the first byte, by windows', of(windows, 'firstMs'), 'ms', of(windows, 'ms') - LATENCY),
  ]
  return figures
}

const ROLE = { name: 'puller', description: 'Pulls images.', capabilities: ['groups.list', 'repo.list'] }
const README = '# Images\n\nWhat it holds.'

const PLAIN = 'PUT of a role'
const PASSED = `its PATCH through ${BASELINE}`
const BARELY = 'the same PUT through bare'
const COMPOSED = 'PUT of a repo with its readme'

/**
 * Point 10: processor time of a v1 PUT, one at a time: of one that is a PATCH of v2, beside the same PATCH through a proxy that passes it
 * on and the same PUT through `bare`, and of one that also reads what v2 keeps apart (the readme of a repo).
 */
export const put: Scenario = async (run) => {
  const sandbox = await startSandbox()
  const first = await startCrosswalk(sandbox.url)
  const group = await createGroup(first.url, 'written')
  const role = await create(first.url, `/iam/v1/roles/${group}`, ROLE)
  const repo = await create(first.url, `/registry/v1/repos/${group}`, { name: 'images', readme: README })
  await first.stop()
  const inV2 = (await (await fetch(`${sandbox.url}/iam/v2/roles/${role}`, { headers: ADMIN })).json()) as typeof ROLE
  const patch = { name: inV2.name, description: inV2.description, capabilities: inV2.capabilities }
  const questionsOf = (proxy: Child, peer: Child, bare: Child): readonly Question[] => [
    { what: PLAIN, proxy, path: `/iam/v1/roles/${role}`, init: asked('PUT', ROLE) },
    { what: PASSED, proxy: peer, path: `/iam/v2/roles/${role}?updateMask=*`, init: asked('PATCH', patch) },
    { what: BARELY, proxy: bare, path: `/iam/v1/roles/${role}`, init: asked('PUT', patch) },
    { what: COMPOSED, proxy, path: `/registry/v1/repos/${repo}`, init: asked('PUT', { name: 'images', readme: README }) },
  ]
  const { time, ratio } = await inTurns(async () => {
    const children = [await startCrosswalk(sandbox.url), await PASSING.start(sandbox.url), await BARE.start(sandbox.url)] as const
    return { questions: questionsOf(...children), stop: async () => void (await Promise.all(children.map((child) => child.stop()))) }
  }, run)
  await sandbox.stop()
  return [
    ...[PLAIN, PASSED, BARELY, COMPOSED].map((what, at) => shown(10, `${what}, CPU`, time(at), 'µs/request')),
    ...[PASSED, BARELY].map((what, at) => shown(10, `${what} ÷ ${PLAIN}, CPU`, ratio(at + 1, 0), '×')),
    atMost(10, `${COMPOSED} ÷ ${PLAIN}, CPU`, ratio(3, 0), '×', 1.4),
  ]
}

const asked = (method: string, body: object) => ({
  method,
  headers: { ...ADMIN, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const LARGE_LIST_ROWS = 100_000
const LISTS = 5
const LARGE_LIST_LATENCY = 20
const PACE = 8 * 2 ** 20
const LIST = '/registry/v1/tags'
const SINGLE = `/registry/v1/tags?id=${uidAt(1)}`

/** Point 4: memory, stalls and other requests while a list of 100,000 rows streams. */
export const largeList: Scenario = async (run) => {
  const upstream = await startUpstream(LARGE_LIST_ROWS, LARGE_LIST_LATENCY)
  const proxy = await startCrosswalk(upstream.url, { probe: true })
  const single = { url: proxy.url, path: SINGLE, caller: 'neighbour' }
  // Warms up with lists of two pages and with single reads, until all the code of a request is loaded and compiled.
  for (let warmUp = 0; warmUp < (run.short ? 50 : 300); warmUp += 1) {
    await readList({ url: proxy.url, path: `${LIST}?limit=1200` })
    await readList(single)
  }
  const alone = await keepAsking(single, new Promise((resolve) => setTimeout(resolve, run.short ? 1000 : 5000)))
  const idle = rssMiB(proxy.pid)
  const fast: Streamed[] = []
  for (let list = 0; list < LISTS; list += 1) {
    fast.push(await streaming(proxy, { url: proxy.url, path: LIST }, single, idle))
    run.note(`large list: ${told(fast.at(-1))}`)
  }
  const slow = await streaming(proxy, { url: proxy.url, path: LIST, pace: PACE }, single, idle)
  run.note(`large list, slow client: ${told(slow)}`)
  await proxy.stop()
  await upstream.stop()
  return [
    shown(4, `${LARGE_LIST_ROWS} rows, median of ${LISTS} lists`, median(fast.map(({ ms }) => ms)), 'ms'),
    atMost(4, 'memory above idle, at its peak', Math.max(...fast.map(({ growth }) => growth)), 'MiB', 12),
    atMost(4, 'the same with a client that reads 8 MB/s', slow.growth, 'MiB', 12),
    // A machine that pauses for a moment spoils one list and not the others.
    atMost(4, `longest stall of the event loop, median of ${LISTS} lists`, median(fast.map(({ stall }) => stall)), 'ms', 8),
    shown(4, 'a single read without a list beside it, p99', percentile(alone, 0.99), 'ms'),
    atMost(
      4,
      'a single read beside the list, p99',
      percentile(
        fast.flatMap(({ neighbours }) => neighbours),
        0.99,
      ),
      'ms',
      2 * percentile(alone, 0.99),
    ),
  ]
}

interface Streamed {
  readonly ms: number
  /** MiB above the idle process. */
  readonly growth: number
  readonly stall: number
  /** Milliseconds of the single reads during the list. */
  readonly neighbours: readonly number[]
}

const told = (streamed?: Streamed) =>
  streamed && `${streamed.ms.toFixed(0)} ms, +${streamed.growth.toFixed(1)} MiB, longest stall ${streamed.stall.toFixed(1)} ms`

async function streaming(proxy: Child, list: Reading, single: Reading, idle: number): Promise<Streamed> {
  const growth = watchMemory(proxy, idle)
  await proxy.stall()
  const reading = readList(list)
  const neighbours = await keepAsking(single, reading)
  return { ms: (await reading).ms, growth: growth(), stall: await proxy.stall(), neighbours }
}

const CALLS_LISTS = ['/registry/v1/repos', '/iam/v1/rolebindings', '/iam/v1/identityProviders', '/iam/v1/groups']

/** Point 8: v2 calls of lists whose v1 rows have more members than v2's list. Each is asked for twice, from the sandbox. */
export const calls: Scenario = async () => {
  const sandbox = await startSandbox()
  const figures: Figure[] = []
  for (const path of CALLS_LISTS) {
    const proxy = await startCrosswalk(sandbox.url)
    const ask = async () => {
      const before = await callsOf(proxy.adminUrl)
      const { items } = (await (await fetch(proxy.url + path, { headers: OWNER })).json()) as { items: readonly unknown[] }
      return { rows: items.length, calls: (await callsOf(proxy.adminUrl)) - before }
    }
    const cold = await ask()
    const warm = await ask()
    const together = await callsTogether(proxy.url + path, () => callsOf(proxy.adminUrl))
    figures.push(
      shown(8, `GET ${path}: rows`, cold.rows, ''),
      shown(8, `GET ${path}: v2 calls, cold`, cold.calls, ''),
      atMost(8, `GET ${path}: v2 calls, warm`, warm.calls, '', Math.max(1, cold.calls)),
      atMost(8, `GET ${path}: v2 calls of 10 at once, warm`, together, '', 10 * warm.calls),
    )
    await proxy.stop()
  }
  await sandbox.stop()
  return [...figures, ...(await polling())]
}

const POLLERS = 20
const POLLS = 20
const CALLS_LATENCY = 20

/** Measures the cost of the rule that a read joins only calls that began after it arrived. The pollers of one caller repeat at once. */
async function polling(): Promise<readonly Figure[]> {
  const sandbox = await startSandbox(CALLS_LATENCY)
  const proxy = await startCrosswalk(sandbox.url)
  const poll = async () => {
    for (let nth = 0; nth < POLLS; nth += 1) await (await fetch(`${proxy.url}/iam/v1/groups`, { headers: OWNER })).arrayBuffer()
  }
  await poll()
  const before = await callsOf(proxy.adminUrl)
  await Promise.all(Array.from({ length: POLLERS }, poll))
  const calls = (await callsOf(proxy.adminUrl)) - before
  await proxy.stop()
  await sandbox.stop()
  return [
    shown(8, `GET /iam/v1/groups: v2 calls of ${POLLERS * POLLS} reads by ${POLLERS} pollers, v2 takes ${CALLS_LATENCY} ms`, calls, ''),
  ]
}

async function callsTogether(url: string, count: () => Promise<number>): Promise<number> {
  const before = await count()
  await Promise.all(Array.from({ length: 10 }, async () => (await fetch(url, { headers: OWNER })).arrayBuffer()))
  return (await count()) - before
}

/** Returns the v2 calls so far, by the proxy's own count. */
async function callsOf(adminUrl: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const counts = [...text.matchAll(/^crosswalk_v2_calls_total\{[^}]*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}
