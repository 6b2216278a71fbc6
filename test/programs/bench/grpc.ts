import { ChannelCredentials, Client, Metadata } from '@grpc/grpc-js'
import { type BesideRest, besideRest } from './beside-rest.ts'
import { type Child, cpuMs, LOAD_CORE, pinned, pinSelf, start, stopAll } from './child.ts'
import { startBareRelay, startCrosswalk } from './proxies.ts'
import { hasNginx, OVER_GRPC, type RelayFigures, relayMark, relayTable, startNginx } from './relays/renaming.ts'
import { atMost, environment, type Figure, loadNow, percentile, tableText } from './report.ts'

/**
 * Measures gRPC straight to a service, through Crosswalk and through other relays, in turns: calls per second, time of a call, bytes per
 * second. Then it asks the tables the same over REST and over gRPC. Takes a minute.
 */
const ROUNDS = 5
const UNARY_MS = 1000
const ALONE_MS = 300
const PARALLEL = 50
const MESSAGES = 1000
const SIZE = 64 * 1024
const MEBIBYTE = 2 ** 20

const bytes = (value: Buffer) => value
const REQUEST = Buffer.alloc(100, 'x')

const call = (client: Client) =>
  new Promise<void>((resolve, reject) => {
    client.makeUnaryRequest('/bench/Echo', bytes, bytes, REQUEST, new Metadata(), {}, (error) => (error ? reject(error) : resolve()))
  })

/** Makes calls one after the other until `end` (of `performance.now`). Returns the time of each in microseconds. */
async function callUntil(client: Client, end: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let at = performance.now(); at < end; ) {
    await call(client)
    const now = performance.now()
    times.push((now - at) * 1000)
    at = now
  }
  return times
}

/** Returns the seconds that a stream of MESSAGES messages takes. */
function stream(client: Client): Promise<number> {
  const started = performance.now()
  const answer = client.makeServerStreamRequest('/bench/Stream', bytes, bytes, Buffer.from(`${MESSAGES} ${SIZE}`))
  return new Promise((resolve, reject) => {
    answer.on('data', () => {}).on('error', reject)
    answer.on('end', () => resolve((performance.now() - started) / 1000))
  })
}

/** A way to the service. */
interface Way {
  readonly name: string
  readonly client: Client
  readonly relay: Child | undefined
}

async function measure({ client, relay }: Way, relays: readonly Child[]): Promise<RelayFigures> {
  const ofRelay = () => (relay ? cpuMs(relay.pid) : 0)
  // The time of a process includes its children.
  const ofOthers = () => relays.reduce((rest, { pid }) => rest - cpuMs(pid), cpuMs(process.pid))
  const [cpu, others] = [ofRelay(), ofOthers()]
  const started = performance.now()
  const lanes = await Promise.all(Array.from({ length: PARALLEL }, () => callUntil(client, started + UNARY_MS)))
  const seconds = (performance.now() - started) / 1000
  const calls = lanes.flat().length
  const used = ((ofRelay() - cpu) * 1000) / calls
  const usedByOthers = ((ofOthers() - others) * 1000) / calls
  const alone = await callUntil(client, performance.now() + ALONE_MS)
  return {
    callsPerSecond: calls / seconds,
    cpu: used,
    others: usedByOthers,
    p50: percentile(alone, 0.5),
    p99: percentile(alone, 0.99),
    mebibytesPerSecond: (MESSAGES * SIZE) / MEBIBYTE / (await stream(client)),
  }
}

const connect = (url: string) => new Client(new URL(url).host, ChannelCredentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 })

async function run(): Promise<Figure> {
  const service = await start(LOAD_CORE, ['node', new URL('grpc-service.js', import.meta.url).pathname])
  const way = (name: string, relay?: Child): Way => ({ name, client: connect((relay ?? service).url), relay })
  const ways = [way('direct'), way('Crosswalk', await startCrosswalk(service.url)), way('bare', await startBareRelay(service.url))]
  if (hasNginx()) ways.push(way('nginx', await startNginx(service.url, OVER_GRPC)))
  else process.stdout.write('nginx is not installed, so that it has no column\n')
  const relays = ways.flatMap(({ relay }) => relay ?? [])
  const figures = new Map<string, RelayFigures[]>(ways.map(({ name }) => [name, []]))
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const each of ways) {
      const measured = await measure(each, relays)
      // The first round warms up.
      if (round > 0) figures.get(each.name)?.push(measured)
    }
  }
  process.stdout.write(
    `${environment(pinned, before)}; medians of ${ROUNDS} rounds, ${PARALLEL} calls at a time, messages of ${SIZE / 1024} KiB in a stream\n\n${relayTable(figures)}`,
  )
  for (const { client } of ways) client.close()
  for (const relay of relays) await relay.stop()
  return relayMark(figures)
}

function printBesideRest(results: readonly BesideRest[]): readonly Figure[] {
  process.stdout.write('\nanswered from the tables, processor time a call        REST          gRPC\n')
  for (const { name, rest, grpc, ratio } of results) {
    const cells = [name.padEnd(44), `${Math.round(rest)} µs`.padStart(14), `${Math.round(grpc)} µs`.padStart(14)]
    process.stdout.write(`${cells.join('')}${`${ratio.toFixed(2)} ×`.padStart(10)}\n`)
  }
  return results.map(({ name, ratio, most }) => atMost(11, `${name}, gRPC ÷ REST on HTTP/2, CPU`, ratio, '×', most))
}

const before = loadNow()
pinSelf(LOAD_CORE)
try {
  const marks = [await run(), ...printBesideRest(await besideRest())]
  process.stdout.write(`\n${tableText(marks)}\n`)
  process.exitCode = marks.every(({ holds }) => holds) ? 0 : 1
} finally {
  stopAll()
}
