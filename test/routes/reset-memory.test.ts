import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCrosswalk } from '../../src/index.ts'
import { ROWS_MEMORY } from '../../src/tables/text/engine.ts'
import { encodeMessage } from '../compat/rpc/answer.ts'
import { methods } from '../compat/rpc/facts.ts'
import { bytesOf, FLAG, type Frame, frame, headers, PREFACE, readFrames, TYPE, uint32 } from '../faults/frames.ts'
import { startProxy } from '../stage/proxy.ts'
import { until } from '../stage/until.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

const ROWS = 200
/** Pages of some 220 kB use memory again, and those of 600 kB do not. */
const [REUSED, LARGE] = [40, 110]
/** Bytes of an answer that its stream takes: a part, so that the stream does not end. */
const WINDOW = 200_000
const STREAMS = 40
/** Milliseconds. */
const CUT_OFF = 300

/** A server that clients ask over HTTP/2, and the metrics of the Crosswalk in it. */
interface Served {
  readonly url: string
  metrics(): Promise<string>
  close(): Promise<unknown>
}

/** Returns the frames that ask for the page of a name on a stream. */
type Ask = (stream: number, name: string) => readonly Frame[]

let v2: Upstream
const served = new Map<string, Served>()

beforeAll(async () => {
  v2 = await startUpstream(({ url }, response) => {
    const name = new URL(url ?? '', 'http://v2').searchParams.get('name') ?? ''
    const digest = name.repeat(name.startsWith('large') ? LARGE : REUSED)
    const tags = Array.from({ length: ROWS }, (_, at) => ({ uid: `a/b/${at}`, name, digest }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ tags, totalCount: String(ROWS) }))
  })
  served.set('itself', await startItself())
  served.set('in a server of somebody else', await startHosted())
})

afterAll(async () => {
  await Promise.all([...served.values()].map(({ close }) => close()))
  await v2.close()
})

async function startItself(): Promise<Served> {
  const proxy = await startProxy({
    ...{ 'upstream.v2': v2.url, 'limits.writeTimeoutMs': CUT_OFF },
    ...{ 'limits.messagesBytes': 2 ** 30, 'log.level': 'silent' },
  })
  return { url: proxy.url, metrics: async () => (await fetch(`${proxy.adminUrl}/metrics`)).text(), close: proxy.close }
}

async function startHosted(): Promise<Served> {
  const v1 = await createCrosswalk({ upstream: { v2: v2.url }, limits: { writeTimeoutMs: CUT_OFF } })
  const server = http2.createServer((request, response) => v1.handler(request as never, response as never))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const closed = () => new Promise((done) => server.close(done))
  const close = () => Promise.all([v1.close(), closed()])
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, metrics: v1.metrics, close }
}

const overRest: Ask = (stream, name) => {
  const path = `/registry/v1/tags?limit=${ROWS}&name=${name}`
  const fields = Object.entries({ ':method': 'GET', ':scheme': 'http', ':authority': 'x', ':path': path })
  return [headers(stream, fields, FLAG.END_STREAM | FLAG.END_HEADERS)]
}

const LIST_TAGS = '/chainguard.platform.registry.Registry/ListTags'

const overGrpc: Ask = (stream, name) => {
  const fields = { ':method': 'POST', ':scheme': 'http', ':authority': 'x', ':path': LIST_TAGS, 'content-type': 'application/grpc' }
  const message = encodeMessage(methods.find(({ path }) => path === LIST_TAGS)?.input ?? '', { name })
  const body = Buffer.concat([Buffer.of(0), uint32(message.length), message])
  return [headers(stream, Object.entries({ ...fields, te: 'trailers' })), frame(TYPE.DATA, FLAG.END_STREAM, stream, body)]
}

/** A connection of HTTP/2 that asks for pages. */
interface Asking {
  readonly socket: net.Socket
  /** The frames that it has read. */
  readonly frames: () => readonly Frame[]
}

/** Asks for pages of these names, each of whose streams takes `window` bytes. */
function ask(url: string, by: Ask, names: readonly string[], window: number): Asking {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname).on('error', () => {})
  const settings = Buffer.concat([Buffer.of(0, 4), uint32(window)])
  const asked = names.flatMap((name, nth) => by(2 * nth + 1, name))
  const begin = [frame(TYPE.SETTINGS, 0, 0, settings), frame(TYPE.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)), ...asked]
  socket.write(Buffer.concat([PREFACE, ...begin.map(bytesOf)]))
  const read: Frame[] = []
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    const found = readFrames(Buffer.concat([rest, bytes]))
    rest = found.rest
    read.push(...found.frames)
  })
  return { socket, frames: () => read }
}

const streamsWith = (frames: readonly Frame[], type: number) =>
  new Set(frames.filter((one) => one.type === type).map(({ stream }) => stream))

/** Every other page is large. */
const NAMES = Array.from({ length: STREAMS }, (_, nth) => `${nth % 2 === 0 ? 'large' : 'small'}-${String(nth).padStart(20, '0')}`)

/** Writes something else into all memory of answers that is free, whoever freed it. Returns that memory, which must be kept. */
function writeIntoFreed(): readonly Buffer[] {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const sizes = Array.from({ length: 10 }, (_, at) => 70_000 * (at + 1))
  return sizes.flatMap((size) => Array.from({ length: STREAMS }, () => ROWS_MEMORY.take(size).fill('?')))
}

/** Reads what is left on a connection. Resolves when its streams are reset, or when it is closed. */
async function readRest(slow: Asking): Promise<readonly Frame[]> {
  slow.socket.resume()
  await until(async () => slow.socket.closed || streamsWith(slow.frames(), TYPE.RST_STREAM).size === STREAMS)
  slow.socket.destroy()
  return slow.frames()
}

/** Reads the whole answers, as a client does that takes everything. */
async function readWhole(url: string, by: Ask): Promise<readonly Frame[]> {
  const client = ask(url, by, NAMES, 2 ** 24)
  await until(async () => client.frames().filter(({ flags, type }) => type <= TYPE.HEADERS && flags & FLAG.END_STREAM).length === STREAMS)
  client.socket.destroy()
  return client.frames()
}

/** Joins the data of each stream. */
function dataOf(frames: readonly Frame[]): ReadonlyMap<number, Buffer> {
  const streams = Array.from({ length: STREAMS }, (_, nth) => 2 * nth + 1)
  const ofStream = (one: number) => frames.filter(({ type, stream }) => type === TYPE.DATA && stream === one)
  return new Map(streams.map((stream) => [stream, Buffer.concat(ofStream(stream).map(({ payload }) => payload))]))
}

it.each([
  { server: 'itself', protocol: 'REST', end: 'its streams are reset' },
  { server: 'itself', protocol: 'REST', end: 'its connection is ended' },
  { server: 'itself', protocol: 'gRPC', end: 'its streams are reset' },
  { server: 'in a server of somebody else', protocol: 'REST', end: 'its connection is ended' },
])(
  'a client of HTTP/2 without TLS that asks Crosswalk $server over $protocol, and reads only when $end, gets nothing but its own answers',
  async ({ server, protocol, end }) => {
    const { url, metrics } = served.get(server)!
    const by = protocol === 'REST' ? overRest : overGrpc
    const counted = async (metric: RegExp) => Number(metric.exec(await metrics())?.[1] ?? 0)
    const cutOff = () => counted(/crosswalk_cut_total\{reason="write"\} (\d+)/)
    const inFlight = () => counted(/crosswalk_requests_in_flight (\d+)/)
    const before = await cutOff()
    const slow = ask(url, by, NAMES, WINDOW)
    slow.socket.pause()
    await until(async () => (await cutOff()) === before + STREAMS)
    if (end === 'its connection is ended') await until(async () => (await inFlight()) === 0)
    const kept = writeIntoFreed()
    const seen = dataOf(await readRest(slow))
    // What is cut off later would count in the next case.
    await until(async () => (await inFlight()) === 0)
    const whole = dataOf(await readWhole(url, by))
    const strange = [...seen].filter(([stream, data]) => !whole.get(stream)?.subarray(0, data.length).equals(data))
    expect(kept).not.toHaveLength(0)
    expect(seen.get(1)?.length).toBeGreaterThan(0)
    expect(strange.map(([stream]) => stream)).toEqual([])
  },
)
