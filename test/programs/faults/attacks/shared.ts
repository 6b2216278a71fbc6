import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import http2 from 'node:http2'
import net, { type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Config } from '../../../../src/app/config/settings.ts'
import { until } from '../../../stage/clocks.ts'
import { listening } from '../../../stage/programs.ts'
import { bearer, startProxy } from '../../../stage/stage.ts'
import { connect2 } from '../../../stage/upstream.ts'
import { answerTo, type Behaviour, type Fault, fault, get, inWorld, longFault, READ, serving, type World } from '../fault.ts'
import { type Carrier, openRpcAsker, type RpcCase, type RpcGiven, type RpcPart } from '../fuzz/rpc.ts'
import { idle, inFlight } from '../process/child.ts'
import { grpcFrame, talk } from '../wire.ts'

const PATH = '/iam/v1/groups?limit=200'
const HEADERS = { ...bearer('t'), 'user-agent': 'x' }

/** More than the buffers of a connection hold. */
const LARGE = JSON.stringify({ groups: Array.from({ length: 200 }, (_, at) => ({ uid: String(at), description: 'x'.repeat(100_000) })) })

function held() {
  const waiting: (() => void)[] = []
  const behaviour: Behaviour = (_, response) => void waiting.push(() => response.end(LARGE))
  return { waiting, behaviour, release: () => waiting.splice(0).forEach((go) => void go()) }
}

/** Opens the clients' connections first, so that parallel requests arrive within one turn of the event loop. Only then is a call shared. */
async function readers({ proxy }: World) {
  const agent = new http.Agent({ keepAlive: true })
  const ask = (path: string) => new Promise<IncomingMessage>((resolve) => http.get(proxy.url + path, { agent, headers: HEADERS }, resolve))
  const ready = await Promise.all(Array.from({ length: GOOD + 1 }, () => ask(UNKNOWN)))
  const session = http2.connect(proxy.url, { settings: { initialWindowSize: 0 } })
  session.on('error', () => {})
  await Promise.all([...ready.map(text), once(session, 'remoteSettings')])
  return {
    /** Resolves for all clients; two of them never read. The session writes after this turn, so the others wait for it. */
    async all(): Promise<readonly Promise<boolean>[]> {
      session.request({ ':path': PATH, ...HEADERS }).on('error', () => {})
      await setImmediate()
      http.get(proxy.url + PATH, { agent, headers: HEADERS }, (answer) => answer.on('error', () => {}).pause())
      return Array.from({ length: GOOD }, async () => isWhole(await text(await ask(PATH))))
    },
    one: async () => isWhole(await text(await ask(PATH))),
    go() {
      agent.destroy()
      session.destroy()
    },
  }
}

const GOOD = 5
const UNKNOWN = '/registry/v1/vuln_reports'
const isWhole = (json: string) => JSON.parse(json).items.length === 200

async function neverReading(): Promise<string> {
  const { waiting, behaviour, release } = held()
  return inWorld(behaviour, { 'upstream.v1': undefined }, async (world) => {
    const { proxy, upstream } = world
    const { all, one, go } = await readers(world)
    const reading = await all()
    await until(async () => waiting.length > 0 && (await inFlight(proxy)) === GOOD + 2)
    release()
    const whole = (await Promise.all(reading)).filter(Boolean).length
    const shared = upstream.seen.length
    const later = one()
    await until(async () => waiting.length === 1)
    release()
    const again = await later
    go()
    await idle(proxy)
    return `${whole} of 5 whole from ${shared} call; a later one whole: ${again}; in flight ${await inFlight(proxy)} when they have gone`
  })
}

export const sharedCallAttacks: readonly Fault[] = [
  fault(
    'two of seven who share a call to v2 never read, over HTTP/1.1 and HTTP/2',
    '5 of 5 whole from 1 call; a later one whole: true; in flight 0 when they have gone',
    neverReading,
  ),
]

const answer = (body: string) => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
const FIRST = answer('{"groups":[]}')
const STAGED = answer('{"groups":[{"uid":"aa","name":"staged"}]}')

const SPLIT = 9

/** A service that answers its very first request twice: the second answer comes `ms` milliseconds later in two packets. */
async function startStaging(ms: number) {
  const sockets = new Set<Socket>()
  let requests = 0
  let staged = () => {}
  const whenStaged = new Promise<void>((resolve) => {
    staged = resolve
  })
  const stage = (socket: Socket) => {
    socket.write(STAGED.slice(0, SPLIT))
    setTimeout(() => {
      if (!socket.destroyed) socket.write(STAGED.slice(SPLIT))
      setTimeout(staged, 20)
    }, 5)
  }
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => {
      requests += 1
      socket.write(FIRST)
      if (requests > 1) return
      if (ms === 0) stage(socket)
      else setTimeout(stage, ms, socket)
    })
  })
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { url: (await listening(server)).url, whenStaged, close }
}

/** An attacker makes v2 send an extra answer. The next client must not receive it. */
async function stagedAnswer(path: string, ms: number): Promise<string> {
  const service = await startStaging(ms)
  const proxy = await startProxy({ 'upstream.v2': service.url, 'upstream.v1': service.url, 'upstream.connections': 1 })
  const ask = async (who: string) => {
    const { answers } = await talk(proxy.url, get(path, `authorization: ${who}\r\nconnection: close\r\n`))
    return answers.some(({ body }) => body.includes('staged')) ? 'the staged one' : `${answers.map(({ status }) => status).join()}`
  }
  const said = [await ask('stranger')]
  await service.whenStaged
  said.push(await ask('victim'), await ask('victim'))
  await proxy.close()
  service.close()
  return said.join('; ')
}

const PATHS = ['/iam/v1/groups', '/registry/v1/vuln_reports', '/iam/v2/groups']

export const stagedAnswers: readonly Fault[] = PATHS.flatMap((path) =>
  [0, 1, 10, 1000].map((ms) =>
    fault(`a second answer to ${path}, after ${ms} ms and in two packets`, '200; 200; 200', () => stagedAnswer(path, ms)),
  ),
)

const LIST = '/chainguard.platform.iam.Groups/List'
const BATCH = '/chainguard.platform.iam.RoleBindings/CreateBatch'
const TYPES: Readonly<Record<Carrier, string>> = {
  grpc: 'application/grpc',
  'grpc-web': 'application/grpc-web',
  connect: 'application/proto',
}

const call = (carrier: Carrier, path: string, bytes: Buffer, headers: readonly RpcPart[] = []): RpcCase => {
  const body = carrier === 'connect' ? bytes : grpcFrame(headers.length > 0 ? 1 : 0, bytes)
  return { carrier, over: 'HTTP/2', path, type: TYPES[carrier], parts: [...headers, { bytes: body }], ends: 'end' }
}

/** The code of an answer: a number of gRPC or a name of Connect. */
function codeOf({ status, headers, trailers, body }: RpcGiven): string {
  const text = body.toString('latin1')
  return (
    trailers.get('grpc-status') ?? headers.get('grpc-status') ?? /grpc-status: ?(\d+)|"code":"(\w+)"/.exec(text)?.[0] ?? `HTTP ${status}`
  )
}

/** Makes a call over each carrier, and a request that must be answered within a second meanwhile. */
async function hostile(calls: readonly RpcCase[], settings: Partial<Config> = {}): Promise<string> {
  return inWorld(serving(3), { 'upstream.v1': undefined, ...settings }, async ({ proxy, upstream }) => {
    const { ask, close } = openRpcAsker(() => proxy.url)
    const codes: string[] = []
    let longest = 0
    for (const one of calls) {
      const asked = ask(one)
      const begun = performance.now()
      await talk(proxy.url, READ, 1)
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
const EMPTIES = Buffer.alloc(2 ** 20 - 64, Buffer.of(0x12, 0))

/** Sends a byte of a message every 20 milliseconds. */
async function trickle({ proxy, upstream }: World): Promise<string> {
  const session = await connect2(proxy.url)
  const stream = session.request({ ':method': 'POST', ':path': LIST, 'content-type': 'application/grpc', te: 'trailers' })
  stream.on('error', () => {})
  const timer = setInterval(() => stream.write(Buffer.of(0)), 20)
  const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve))
  clearInterval(timer)
  session.destroy()
  await idle(proxy)
  return `${headers['grpc-status']}; ${upstream.seen.length} passed on`
}

const READERS = 50

async function unread({ proxy }: World): Promise<string> {
  const session = await connect2(proxy.url)
  session.settings({ initialWindowSize: 0 })
  for (let nth = 0; nth < READERS; nth += 1) {
    const stream = session.request({ ':method': 'POST', ':path': LIST, 'content-type': 'application/grpc', te: 'trailers' })
    stream.on('error', () => {}).end(grpcFrame(0, Buffer.alloc(0)))
  }
  const begun = performance.now()
  await until(async () => (await inFlight(proxy)) > 0)
  await idle(proxy)
  session.destroy()
  const then = await answerTo(proxy.url)
  return `all over ${performance.now() - begun < 10_000 ? 'soon' : 'late'}; then ${then.replace(/\d+ rows/, 'rows')}`
}

const FLOOD = 2000

async function resets({ proxy, upstream }: World): Promise<string> {
  for (let left = FLOOD; left > 0; left -= 100) {
    const session = await connect2(proxy.url)
    for (let nth = 0; nth < 100; nth += 1) {
      const stream = session.request({ ':method': 'POST', ':path': LIST, 'content-type': 'application/grpc', te: 'trailers' })
      stream.on('error', () => {}).write(grpcFrame(0, Buffer.alloc(0)))
      stream.close(8)
    }
    await new Promise((resolve) => session.close(() => resolve(undefined)))
  }
  await idle(proxy)
  const then = await answerTo(proxy.url)
  return `none in flight, ${upstream.seen.length <= FLOOD + 1 ? 'no more calls than streams' : upstream.seen.length}; then ${then}`
}

export const rpcAttacks: readonly Fault[] = [
  longFault('a gRPC message that trickles in', '4; 0 passed on', () =>
    inWorld(serving(3), { 'limits.deadlineMs': 300, 'upstream.v1': undefined }, trickle),
  ),
  longFault(
    'messages of 100 kB that inflate to 100 MB',
    '8, grpc-status: 8, "code":"resource_exhausted"; 0 passed on; others wait less than a second',
    () => hostile(CARRIERS.map((carrier) => call(carrier, LIST, BOMB, [gzip(carrier)]))),
  ),
  longFault(
    'messages with half a million empty messages',
    '3, grpc-status: 3, "code":"invalid_argument"; 0 passed on; others wait less than a second',
    () => hostile(CARRIERS.map((carrier) => call(carrier, BATCH, EMPTIES))),
  ),
  longFault('long lists over gRPC that nobody reads', 'all over soon; then 200, rows', () =>
    inWorld(serving(5000), { 'limits.idleTimeoutMs': 1000, 'upstream.v1': undefined }, unread),
  ),
  longFault(`${FLOOD} streams of gRPC that are reset at once`, 'none in flight, no more calls than streams; then 200, 3 rows', () =>
    inWorld(serving(3), { 'upstream.v1': undefined }, resets),
  ),
]
