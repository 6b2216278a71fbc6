import { gzipSync } from 'node:zlib'
import type { Config } from '../../../../src/app/config/settings.ts'
import { connect2 } from '../../../listen/fetch2.ts'
import { until } from '../../../stage/until.ts'
import type { Fault } from '../../fault.ts'
import { openRpcAsker, type RpcGiven } from '../../fuzz/rpc/ask.ts'
import type { Carrier, RpcCase, RpcPart } from '../../fuzz/rpc/draw.ts'
import { metric } from '../../process/child.ts'
import { say } from '../../say.ts'
import { talk } from '../../wire.ts'
import { inWorld, serving, type World } from '../../world.ts'

const LIST = '/chainguard.platform.iam.Groups/List'
const BATCH = '/chainguard.platform.iam.RoleBindings/CreateBatch'
const TYPES: Readonly<Record<Carrier, string>> = {
  grpc: 'application/grpc',
  'grpc-web': 'application/grpc-web',
  connect: 'application/proto',
}

/** A frame of gRPC. */
function framed(flags: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(flags)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

const call = (carrier: Carrier, path: string, bytes: Buffer, headers: readonly RpcPart[] = []): RpcCase => {
  const body = carrier === 'connect' ? bytes : framed(headers.length > 0 ? 1 : 0, bytes)
  return { carrier, over: 'HTTP/2', path, type: TYPES[carrier], parts: [...headers, { bytes: body }], ends: 'end' }
}

/** The code of an answer: a number of gRPC or a name of Connect. */
function codeOf({ status, headers, trailers, body }: RpcGiven): string {
  const text = body.toString('latin1')
  return (
    trailers.get('grpc-status') ?? headers.get('grpc-status') ?? /grpc-status: ?(\d+)|"code":"(\w+)"/.exec(text)?.[0] ?? `HTTP ${status}`
  )
}

const GOOD = 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\n\r\n'

/** Makes a call over each carrier, and a request that must be answered within a second meanwhile. */
async function hostile(calls: readonly RpcCase[], settings: Partial<Config> = {}): Promise<string> {
  return inWorld(serving(3), { 'upstream.v1': undefined, ...settings }, async ({ proxy, upstream }) => {
    const { ask, close } = openRpcAsker(() => proxy.url)
    const codes: string[] = []
    let longest = 0
    for (const one of calls) {
      const asked = ask(one)
      const begun = performance.now()
      await talk(proxy.url, GOOD, 1)
      longest = Math.max(longest, performance.now() - begun)
      codes.push(codeOf(await asked))
    }
    close()
    const passed = upstream.seen.length - calls.length
    return `${codes.join(', ')}; ${passed} passed on; others wait ${longest < 1000 ? 'less than a second' : `${Math.round(longest)} ms`}`
  })
}

const CARRIERS = Object.keys(TYPES) as readonly Carrier[]
const gzip = (carrier: Carrier): RpcPart => ({ header: [carrier === 'connect' ? 'content-encoding' : 'grpc-encoding', 'gzip'] })

/** 100 MB of zeros in 100 kB. */
const BOMB = gzipSync(Buffer.alloc(100 * 2 ** 20))

/** Two million empty messages: each takes two bytes, and a hundred once it is decoded. */
const EMPTIES = Buffer.alloc(2 ** 22, Buffer.of(0x12, 0))

/** Sends a byte of a message every 20 milliseconds. */
async function trickle({ proxy, upstream }: World): Promise<string> {
  const session = await connect2(proxy.url)
  const stream = session.request({ ':method': 'POST', ':path': LIST, 'content-type': 'application/grpc', te: 'trailers' })
  stream.on('error', () => {})
  const timer = setInterval(() => stream.write(Buffer.of(0)), 20)
  const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve))
  clearInterval(timer)
  session.destroy()
  await until(async () => (await metric(proxy, 'crosswalk_requests_in_flight')) === 0)
  return `${headers['grpc-status']}; ${upstream.seen.length} passed on`
}

const READERS = 50

/** Calls long lists whose answers nobody reads. */
async function unread({ proxy }: World): Promise<string> {
  const session = await connect2(proxy.url)
  session.settings({ initialWindowSize: 0 })
  for (let nth = 0; nth < READERS; nth += 1) {
    const stream = session.request({ ':method': 'POST', ':path': LIST, 'content-type': 'application/grpc', te: 'trailers' })
    stream.on('error', () => {}).end(framed(0, Buffer.alloc(0)))
  }
  const begun = performance.now()
  await until(async () => (await metric(proxy, 'crosswalk_requests_in_flight')) > 0)
  await until(async () => (await metric(proxy, 'crosswalk_requests_in_flight')) === 0)
  session.destroy()
  const [afterwards] = (await talk(proxy.url, GOOD, 1)).answers
  return `all over ${performance.now() - begun < 10_000 ? 'soon' : 'late'}; then ${say(afterwards)?.replace(/\d+ rows/, 'rows')}`
}

const FLOOD = 2000

/** Opens streams and resets them at once. */
async function resets({ proxy, upstream }: World): Promise<string> {
  for (let left = FLOOD; left > 0; left -= 100) {
    const session = await connect2(proxy.url)
    for (let nth = 0; nth < 100; nth += 1) {
      const stream = session.request({ ':method': 'POST', ':path': LIST, 'content-type': 'application/grpc', te: 'trailers' })
      stream.on('error', () => {}).write(framed(0, Buffer.alloc(0)))
      stream.close(8)
    }
    await new Promise((resolve) => session.close(() => resolve(undefined)))
  }
  await until(async () => (await metric(proxy, 'crosswalk_requests_in_flight')) === 0)
  const [afterwards] = (await talk(proxy.url, GOOD, 1)).answers
  return `none in flight, ${upstream.seen.length <= FLOOD + 1 ? 'no more calls than streams' : upstream.seen.length}; then ${say(afterwards)}`
}

export const rpcAttacks: readonly Fault[] = [
  {
    name: 'a gRPC message that trickles in',
    expected: '4; 0 passed on',
    full: true,
    see: () => inWorld(serving(3), { 'limits.deadlineMs': 300, 'upstream.v1': undefined }, trickle),
  },
  {
    name: 'messages of 100 kB that inflate to 100 MB',
    expected: '8, grpc-status: 8, "code":"resource_exhausted"; 0 passed on; others wait less than a second',
    full: true,
    see: () => hostile(CARRIERS.map((carrier) => call(carrier, LIST, BOMB, [gzip(carrier)]))),
  },
  {
    name: 'messages with millions of empty messages',
    expected: '3, grpc-status: 3, "code":"invalid_argument"; 0 passed on; others wait less than a second',
    full: true,
    see: () => hostile(CARRIERS.map((carrier) => call(carrier, BATCH, EMPTIES))),
  },
  {
    name: 'long lists over gRPC that nobody reads',
    expected: 'all over soon; then 200, rows',
    full: true,
    see: () => inWorld(serving(5000), { 'limits.idleTimeoutMs': 1000, 'upstream.v1': undefined }, unread),
  },
  {
    name: `${FLOOD} streams of gRPC that are reset at once`,
    expected: 'none in flight, no more calls than streams; then 200, 3 rows',
    full: true,
    see: () => inWorld(serving(3), { 'upstream.v1': undefined }, resets),
  },
]
