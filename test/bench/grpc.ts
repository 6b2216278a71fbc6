import { ChannelCredentials, Client, Metadata } from '@grpc/grpc-js'
import { type BesideRest, besideRest } from './beside-rest.ts'
import { cpuMs, LOAD_CORE, pinned, pinSelf, start, stopAll } from './child.ts'
import { startCrosswalk } from './proxies.ts'
import { environment } from './report/report.ts'
import { median, percentile } from './report/statistics.ts'

/**
 * Measures gRPC straight to a service and through Crosswalk, in turns: calls per second, time of a call, bytes per second. Then it asks the
 * tables the same over REST and over gRPC. Takes a minute.
 */
const ROUNDS = 3
const UNARY_MS = 1500
const ALONE_MS = 500
const PARALLEL = 50
const MESSAGES = 3000
const SIZE = 64 * 1024
const MEBIBYTE = 2 ** 20

const bytes = (value: Buffer) => value
const REQUEST = Buffer.alloc(100, 'x')

interface Figures {
  readonly callsPerSecond: number
  /** CPU time of Crosswalk for one of them, in microseconds; 0 if Crosswalk is not involved. */
  readonly cpu: number
  /** The same of client and service together. */
  readonly others: number
  readonly p50: number
  readonly p99: number
  readonly mebibytesPerSecond: number
}

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

async function measure(client: Client, proxy: number): Promise<Figures> {
  // The time of a process includes its children.
  const others = () => cpuMs(process.pid) - cpuMs(proxy)
  const [cpu, before] = [cpuMs(proxy), others()]
  const started = performance.now()
  const lanes = await Promise.all(Array.from({ length: PARALLEL }, () => callUntil(client, started + UNARY_MS)))
  const seconds = (performance.now() - started) / 1000
  const calls = lanes.flat().length
  const used = ((cpuMs(proxy) - cpu) * 1000) / calls
  const usedByOthers = ((others() - before) * 1000) / calls
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

async function run(): Promise<void> {
  const service = await start(LOAD_CORE, ['node', new URL('grpc-service.js', import.meta.url).pathname])
  const proxy = await startCrosswalk(service.url)
  const ways = [connect(service.url), connect(proxy.url)]
  const figures: Figures[][] = [[], []]
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [at, client] of ways.entries()) {
      const measured = await measure(client, proxy.pid)
      // The first round warms up.
      if (round > 0) figures[at]?.push(measured)
    }
  }
  print(figures)
  for (const client of ways) client.close()
}

function print([direct = [], through = []]: readonly (readonly Figures[])[]): void {
  const line = (what: string, unit: string, of: keyof Figures) => {
    const [a, b] = [direct, through].map((all) => median(all.map((figures) => figures[of]))) as [number, number]
    const cells = [what.padEnd(38), `${Math.round(a)} ${unit}`.padStart(14), `${Math.round(b)} ${unit}`.padStart(14)]
    process.stdout.write(`${cells.join('')}${(a > 1 ? `${(b / a).toFixed(2)} ×` : '').padStart(10)}\n`)
  }
  process.stdout.write(`${environment(pinned)}; medians of ${ROUNDS} rounds\n\n${' '.repeat(38)}        direct     Crosswalk\n`)
  line(`unary calls, ${PARALLEL} at a time`, '/s', 'callsPerSecond')
  line('processor time of Crosswalk a call', 'µs', 'cpu')
  line('of client and service, on one core', 'µs', 'others')
  line('one call alone, median', 'µs', 'p50')
  line('one call alone, 99th percentile', 'µs', 'p99')
  line(`stream of ${SIZE / 1024} KiB messages`, 'MiB/s', 'mebibytesPerSecond')
}

function printBesideRest(results: readonly BesideRest[]): void {
  process.stdout.write('\nanswered from the tables, processor time a call        REST          gRPC\n')
  for (const { name, rest, grpc, ratio } of results) {
    const cells = [name.padEnd(44), `${Math.round(rest)} µs`.padStart(14), `${Math.round(grpc)} µs`.padStart(14)]
    process.stdout.write(`${cells.join('')}${`${ratio.toFixed(2)} ×`.padStart(10)}\n`)
  }
}

pinSelf(LOAD_CORE)
try {
  await run()
  printBesideRest(await besideRest())
} finally {
  stopAll()
}
