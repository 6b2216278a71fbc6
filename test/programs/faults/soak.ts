import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { paced, seeded, until } from '../../stage/clocks.ts'
import { startUpstream } from '../../stage/upstream.ts'
import { seedOr } from './fuzz/hunt.ts'
import { closedLoop, createCallers, quantile } from './load/overload.ts'
import { askProbe, type Child, inFlight, program, serve, idle as untilIdle } from './process/child.ts'
import {
  attack,
  type Clients,
  createClients,
  descriptorsOf,
  EARLY,
  FORGED,
  faulty,
  floors,
  residentMiB,
  type Sample,
  slopePerMinute,
} from './soak/clients.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seconds: { type: 'string' }, hostile: { type: 'string', default: '0.1' } },
})
const HOSTILE = Number(values.hostile)
const SECONDS = values.seconds === undefined ? 60 * Number(values.minutes) : Number(values.seconds)
const seed = seedOr(1)

/** One v2 answer in this number is a fault. */
const ONE_IN = 20
/** The load generator is a single process: beyond this rate it would measure itself. */
const FASTEST = 1000
const CROWD = 100
/** The number of time spans whose minimal memory is compared. */
const SPANS = 20
/**
 * Milliseconds that an answer may wait for a collection.
 * V8 makes one a second, because every hostile HTTP/2 connection counts as new memory.
 */
const COLLECTION = 60
/** Seconds of each side of a further measurement, and how many there may be. What harms always harms in all of them. */
const AGAIN = 15
const TRIES = 3
/** Seconds before a slope under load is meaningful: in the first minutes the young generation still grows to its final size. */
const TELLING = 300
const GROWTH = 16

type Probe = Readonly<Record<'resident' | 'external' | 'heap' | 'timers' | 'sockets' | 'handles', number>>

/** Keeps a rate for so many seconds and calls `each` once a second. */
async function load(clients: Clients, perSecond: number, seconds: number, each: (second: number) => void): Promise<void> {
  const acts = paced(clients.act, perSecond, CROWD)
  for (let told = 0; ; ) {
    acts.startDue()
    for (; told < acts.passed(); told++) each(told)
    if (acts.passed() >= seconds) break
    await delay(5)
  }
  await acts.settled()
}

/** Waits until nothing is in flight and no client is connected. */
async function idle(child: Child, clients: Clients): Promise<Probe> {
  clients.close()
  await untilIdle(child)
  // The services close their connections after 5 seconds without a request.
  await until(async () => descriptorsOf(child.pid) <= atRest).catch(() => {})
  return askProbe<Probe>(child, 'probe')
}

const random = seeded(seed)
const failing = faulty(random, ONE_IN)
const upstream = await startUpstream((request, response, body) => {
  if (!response.writableEnded) failing(request, response, body)
})
upstream.server.prependListener('request', ({ url, headers }, response) => {
  if (url === EARLY || headers.authorization?.startsWith(FORGED)) response.writeHead(401, { 'content-length': 2 }).end('{}')
})
// Without fallbacks, every error is one of the tables in v1's form.
const clientTimes = { 'idle-timeout-ms': 10_000, 'body-timeout-ms': 1000, 'write-timeout-ms': 1000 }
const limits = { 'fallbacks-per-minute': 0, 'call-timeout-ms': 500, 'deadline-ms': 2000, ...clientTimes }
const nodeFlags = ['--expose-gc', '--import', program('../soak/probe.js')]
const child = await serve({ 'upstream-v2': upstream.url, 'upstream-v1': upstream.url, ...limits }, { nodeFlags })

await inFlight(child)
const atRest = descriptorsOf(child.pid)
const callers = createCallers(child.url, '/iam/v1/groups')
const { goodput } = await closedLoop(callers, 32, Math.min(5000, SECONDS * 100))
callers.close()
const pace = Math.min(FASTEST, goodput / 2)
process.stdout.write(`CROSSWALK_SEED=${seed}; capacity ${goodput.toFixed(0)}/s, pace ${pace.toFixed(0)}/s for ${SECONDS} s\n`)

// Warms up: what is compiled, cached or pooled once is no leak.
// Neither is the young generation, which grows for half a minute on a slow machine.
const warm = createClients(child.url, random)
await load(warm, pace, Math.max(30, SECONDS / 10), () => {})
const calm = quantile(warm.times, 0.99)
const warmedUp = attack(child.url, seed, HOSTILE * pace)
await load(warm, pace, Math.max(10, SECONDS / 30), () => {})
await warmedUp()
const before = await idle(child, warm)

const clients = createClients(child.url, random)
const over = attack(child.url, seed, HOSTILE * pace)
const samples: Sample[] = []
let most = 0
await load(clients, pace, SECONDS, (second) => {
  samples.push({ seconds: second, value: residentMiB(child.pid) })
  most = Math.max(most, descriptorsOf(child.pid))
})
const harm = await over()
let [calmMs, harmedMs] = [calm, quantile(clients.times, 0.99)]
const boundOf = (ms: number) => Math.max(2 * ms, COLLECTION)
for (let left = TRIES; left > 0 && harmedMs > boundOf(calmMs); left--) {
  // Other work on the machine may have begun meanwhile. So both are measured again, one right after the other.
  process.stdout.write(`p99 ${harmedMs.toFixed(0)} ms, without harm ${calmMs.toFixed(0)} ms; once more\n`)
  const [still, harmed] = [createClients(child.url, random), createClients(child.url, random)]
  await load(still, pace, AGAIN, () => {})
  const end = attack(child.url, seed, HOSTILE * pace)
  await load(harmed, pace, AGAIN, () => {})
  await end()
  calmMs = quantile(still.times, 0.99)
  harmedMs = quantile(harmed.times, 0.99)
  for (const each of [still, harmed]) each.close()
}
const after = await idle(child, clients)
const bound = boundOf(calmMs)
const descriptorsAfter = descriptorsOf(child.pid)
const exit = await child.stop('SIGTERM')
await upstream.close()

const floor = floors(samples, SPANS)
// The collection before the first sample shrank the process; it grows back in the first half.
const slope = slopePerMinute(floor.slice(Math.floor(floor.length / 2)))
const growth = (slope * SECONDS) / 60
const MEBIBYTE = 2 ** 20
const heapGrowth = (after.heap - before.heap) / MEBIBYTE
const residentGrowth = (after.resident - before.resident) / MEBIBYTE
const underLoad = [
  'resident memory under load',
  `slope ≈ 0: ${GROWTH} MiB in the whole time at most`,
  `${slope.toFixed(2)} MiB a minute, ${growth.toFixed(1)} in all`,
  growth < GROWTH,
] as const
const rows: readonly (readonly [string, string, string, boolean])[] = [
  ['answers', 'in v1 shape', `${JSON.stringify(clients.statuses)}, ${clients.wrong.length} wrong`, clients.wrong.length === 0],
  ['p99 of an answer', `${bound.toFixed(0)} ms; without harm ${calmMs.toFixed(0)} ms`, `${harmedMs.toFixed(0)} ms`, harmedMs <= bound],
  ['resident memory at rest, collected', `${GROWTH} MiB more at most`, `${residentGrowth.toFixed(1)} MiB`, residentGrowth < GROWTH],
  ...(SECONDS < TELLING ? [] : [underLoad]),
  ['heap after a collection', '4 MiB more at most', `${heapGrowth.toFixed(2)} MiB`, heapGrowth < 4],
  ['timers', `${before.timers}`, `${after.timers}`, after.timers <= before.timers],
  ['sockets', `${before.sockets}`, `${after.sockets}`, after.sockets <= before.sockets],
  ['handles', `${before.handles}`, `${after.handles}`, after.handles <= before.handles],
  ['file descriptors', `${atRest}, as before the first request`, `${descriptorsAfter} (${most} under load)`, descriptorsAfter <= atRest],
  ['exit code', '0', `${exit}`, exit === 0],
]
process.stdout.write(`resident MiB: ${floor.map(({ seconds, value }) => `${value.toFixed(0)} at ${seconds} s`).join(', ')}\n`)
process.stdout.write(`harm done: ${JSON.stringify(harm)}\n`)
process.stdout.write(`at rest, collected: ${JSON.stringify(before)} before, ${JSON.stringify(after)} after\n`)
process.stdout.write('| Soak | Expected | Seen | |\n|---|---|---|---|\n')
for (const [name, expected, seen, holds] of rows)
  process.stdout.write(`| ${name} | ${expected} | ${seen} | ${holds ? 'holds' : 'FAILS'} |\n`)
for (const wrong of clients.wrong.slice(0, 10)) process.stdout.write(`${wrong}\n`)
process.exitCode = rows.every(([, , , holds]) => holds) ? 0 : 1
