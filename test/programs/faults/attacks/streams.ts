import { once } from 'node:events'
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import net from 'node:net'
import type { Config } from '../../../../src/app/config/settings.ts'
import { ALL_V2 } from '../../../../src/migrate/modes/rules.ts'
import { until } from '../../../stage/clocks.ts'
import { listening } from '../../../stage/programs.ts'
import { startProxy, type TestProxy } from '../../../stage/stage.ts'
import { connect2 } from '../../../stage/upstream.ts'
import { type Asked, answerTo, askBoth, type Fault, fault, get, inWorld, messageIn, say, serving, type World } from '../fault.ts'
import { idle, inFlight } from '../process/child.ts'
import { talk, type WireAnswer } from '../wire.ts'

/** Starts an alias of another address: connections to it are connected there, in any protocol. */
async function startAlias() {
  let to = 0
  const server = net.createServer((client) => {
    const service = net.connect(to, '127.0.0.1')
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const)
      one
        .on('error', () => {})
        .on('close', () => other.destroy())
        .pipe(other)
  })
  const lead = (url: string) => {
    to = Number(new URL(url).port)
  }
  return { url: (await listening(server)).url, lead, close: () => void server.close() }
}

/** Starts proxies in a circle, each the only service of the one before it. Requests go to the first. */
async function inCircle<T>(count: number, settings: Partial<Config>, use: (proxies: readonly TestProxy[]) => Promise<T>): Promise<T> {
  const alias = await startAlias()
  const proxies: TestProxy[] = []
  for (let at = 0; at < count; at += 1) {
    const url = proxies[0]?.url ?? alias.url
    proxies.unshift(await startProxy({ 'upstream.v2': url, 'upstream.v1': url, 'fallback.perMinute': 0, ...settings }))
  }
  alias.lead(proxies[0]?.url ?? '')
  try {
    return await use(proxies)
  } finally {
    for (const proxy of proxies) await proxy.close()
    alias.close()
  }
}

/** Returns the answers to these requests, and what the first proxy logged about them. */
const circling = (count: number, asked: readonly Asked[], settings: Partial<Config> = {}) =>
  inCircle(count, settings, async ([first]) => {
    if (!first) return 'no proxy'
    const answers: (WireAnswer | undefined)[] = []
    for (const one of asked) answers.push(...(await askBoth(first.url, one)))
    return `${answers.map(answered).join(', ')}; ${await cameBack(first)}`
  })

function answered(answer: WireAnswer | undefined): string {
  const grpc = answer?.headers.get('grpc-status')
  return grpc === undefined ? say(answer) : `gRPC ${grpc}`
}

/** Reading the metrics makes the proxy ping its services, which are itself. These requests are left out. */
async function cameBack(proxy: TestProxy): Promise<string> {
  await idle(proxy)
  const lines = proxy.log.filter(({ path }) => !String(path).startsWith('/ping/'))
  const loops = lines.filter(({ operation }) => operation === 'loop').length
  return `${lines.length} requests, ${loops} of them came back`
}

const NATIVE: Asked = { target: '/iam/v2/groups' }
const TRANSLATED: Asked = { target: '/iam/v1/groups' }
const WRITE: Asked = { method: 'POST', target: '/iam/v1/groups/abc', body: Buffer.from('{"name":"x"}') }
const V1_ONLY: Asked = { target: '/registry/v1/vuln_reports' }
/** Over HTTP/2 only; over HTTP/1.1 it is an ordinary request. */
const GRPC: Asked = {
  method: 'POST',
  target: '/a.B/C',
  headers: { 'content-type': 'application/grpc', te: 'trailers' },
  body: Buffer.alloc(5),
}

/** `Connection` may remove headers that it names. */
const UNMARKED = get('/iam/v2/groups', 'connection: close, cdn-loop\r\ncdn-loop: a\r\n')
const KEY = 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n'
const HANDSHAKE = get('/socket', `connection: Upgrade\r\nupgrade: websocket\r\n${KEY}`)

/** The same for one request as bytes, over HTTP/1.1 only. */
const talking = (bytes: string) =>
  inCircle(1, {}, async ([proxy]) => {
    const { answers } = await talk(proxy?.url ?? '', bytes)
    return `${say(answers[0])}; ${proxy && (await cameBack(proxy))}`
  })

/** A proxy whose v2 is its own admin port. */
async function toAdmin(): Promise<string> {
  const alias = await startAlias()
  const proxy = await startProxy({ 'upstream.v2': alias.url })
  alias.lead(proxy.adminUrl)
  try {
    const body = Buffer.from('{"default":"v1"}')
    const change = await askBoth(proxy.url, { method: 'PUT', target: '/modes', headers: { 'content-type': 'application/json' }, body })
    const read = await askBoth(proxy.url, { target: '/modes' })
    const both = [...change, ...read]
    return `${both.map(say).join(', ')}: ${[...new Set(both.map((answer) => answer && messageIn(answer)))].join()}`
  } finally {
    await proxy.close()
    alias.close()
  }
}

export const loopAttacks: readonly Fault[] = [
  fault(
    'a v2 that is the proxy itself: native, translated and a write',
    '508/13, 508/13, 500/13, 500/13, 500/13, 500/13; 12 requests, 6 of them came back',
    () => circling(1, [NATIVE, TRANSLATED, WRITE]),
  ),
  fault('a v1 that is the proxy itself', '508/13, 508/13; 4 requests, 2 of them came back', () => circling(1, [V1_ONLY])),
  fault('a v2 that is the proxy itself, by gRPC', '508/13, gRPC 13; 4 requests, 2 of them came back', () => circling(1, [GRPC])),
  fault('a v2 that is the proxy itself, by WebSocket', '508/13; 2 requests, 1 of them came back', () => talking(HANDSHAKE)),
  fault('a loop whose requests take the mark away (Connection: cdn-loop)', '508/13; 2 requests, 1 of them came back', () =>
    talking(UNMARKED),
  ),
  fault('a loop while both sides are compared', '508/13, 508/13; fewer than 20 requests', () =>
    inCircle(1, { modes: { ...ALL_V2, default: 'diff-v1' } }, async ([proxy]) => {
      const answers = await askBoth(proxy?.url ?? '', TRANSLATED)
      const few = proxy && Number((await cameBack(proxy)).split(' ')[0]) < 20
      return `${answers.map(say).join(', ')}; ${few ? 'fewer than 20' : 'more'} requests`
    }),
  ),
  fault('a loop through two other proxies', '508/13, 508/13, 508/13, 508/13, 500/13, 500/13; 12 requests, 6 of them came back', () =>
    circling(3, [NATIVE, V1_ONLY, TRANSLATED]),
  ),
  fault('a v2 that is the admin port', '403/7, 403/7, 403/7, 403/7: the admin port is not for what has come through a Crosswalk', toAdmin),
]

const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
const UNARY = '/chainguard.platform.iam.v2.GroupsService/ListGroups'
const FOREIGN = '/somebody.else.Service/Streams'

/** A request that is answered without a service. */
const NOTHING = get('/iam/v1/nothing')
const TOKEN = { authorization: 'Bearer t' }
const WITH_TOKEN = get('/iam/v1/nothing', 'authorization: Bearer t\r\n')

const isCall = (path: string) => path.includes('.')

function trickling(session: ClientHttp2Session, path: string, headers: IncomingHttpHeaders = {}): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    ...(isCall(path) && { 'content-type': 'application/grpc', te: 'trailers' }),
    ...headers,
  })
  const timer = setInterval(() => stream.write(Buffer.of(0)), 50)
  stream.on('error', () => {}).once('close', () => clearInterval(timer))
  return stream.resume()
}

/** Tells how a call ended: by its status, or by a reset. */
async function endOf(stream: ClientHttp2Stream): Promise<string> {
  let status: unknown
  const seen = (headers: IncomingHttpHeaders) => {
    status = headers['grpc-status'] ?? status
  }
  stream.once('response', seen).once('trailers', seen)
  if (!stream.closed) await once(stream, 'close')
  return status === undefined ? `reset ${stream.rstCode}` : `status ${status}`
}

const QUIET: Partial<Config> = { 'upstream.v1': undefined, 'limits.requestsInFlight': 80 }

async function startSilent() {
  const server = http2.createServer().on('stream', (stream) => void stream.on('error', () => {}).resume())
  return { url: (await listening(server)).url, server }
}

/** Holds as many calls of a method as one client may. Nobody else may be refused, and all of them end. */
async function held(
  path: string,
  settings: Partial<Config>,
  use: (world: World, all: readonly ClientHttp2Stream[]) => Promise<string>,
  headers: IncomingHttpHeaders = TOKEN,
) {
  const silent = await startSilent()
  const v2 = isCall(path) && !path.includes('Groups/') ? { 'upstream.v2': silent.url } : {}
  return inWorld(serving(3), { ...QUIET, ...v2, ...settings }, async (world) => {
    const sessions = await Promise.all(Array.from({ length: 8 }, () => connect2(world.proxy.url)))
    const all = sessions.flatMap((session) => Array.from({ length: 10 }, () => trickling(session, path, headers)))
    const said = await use(world, all)
    for (const session of sessions) session.destroy()
    silent.server.close()
    return said
  })
}

const others = ({ proxy }: World, request = NOTHING) => answerTo(proxy.url, request)

async function endsOf(world: World, all: readonly ClientHttp2Stream[]): Promise<string> {
  const said = await ends(all)
  await idle(world.proxy)
  return `${said}; then ${await others(world)}`
}

async function ends(all: readonly ClientHttp2Stream[]): Promise<string> {
  const counts = new Map<string, number>()
  for (const end of await Promise.all(all.map(endOf))) counts.set(end, (counts.get(end) ?? 0) + 1)
  return [...counts]
    .map(([end, count]) => `${count} × ${end}`)
    .sort()
    .join(', ')
}

export const streamAttacks: readonly Fault[] = [
  fault('more calls of reflection than there are places for it', 'others 404/5; 60 × status 8 at once', () =>
    held(REFLECTION, {}, async (world, all) => {
      const refused = all.map(endOf)
      const over: string[] = []
      for (const one of refused) one.then((end) => over.push(end)).catch(() => {})
      await until(async () => over.length >= 60)
      return `others ${await others(world)}; ${over.length} × ${[...new Set(over)].join()} at once`
    }),
  ),
  ...['/chainguard.platform.iam.v2.GroupsService/ListGroups', '/chainguard.platform.iam.Groups/List'].map((path) =>
    fault(`messages for ${path} that trickle in for longer than a body may`, '80 × status 4; then 404/5', () =>
      held(path, { 'limits.bodyTimeoutMs': 500 }, endsOf),
    ),
  ),
  fault('a relayed call of one message that lasts longer than a request may', '80 × status 4; then 404/5', () =>
    held(UNARY, { 'limits.deadlineMs': 700 }, endsOf),
  ),
  fault('streams of messages that hardly move', '20 × status 4, 60 × status 8; then 404/5', () =>
    held(FOREIGN, { 'limits.idleTimeoutMs': 1000 }, endsOf),
  ),
  fault(
    'bodies without a credential on more connections than there are places',
    '60 of 80 places; without one 503/14, again after 1 s, with one 404/5',
    () =>
      held(
        '/iam/v2/groups',
        {},
        async (world) => {
          await until(async () => (await inFlight(world.proxy)) >= 60)
          const [without, withOne] = [await others(world), await others(world, WITH_TOKEN)]
          return `${await inFlight(world.proxy)} of 80 places; without one ${without}, with one ${withOne}`
        },
        {},
      ),
  ),
  fault(
    'all places held by bodies, some of them without a credential',
    '80 of 80 places, 20 of them with a credential; another with one 404/5',
    () =>
      held(
        '/iam/v2/groups',
        {},
        async (world) => {
          await until(async () => (await inFlight(world.proxy)) === 60)
          const session = await connect2(world.proxy.url)
          const second = await connect2(world.proxy.url)
          const mine = [session, second].flatMap((one) => Array.from({ length: 10 }, () => trickling(one, '/iam/v2/groups', TOKEN)))
          await until(async () => (await inFlight(world.proxy)) === 80)
          const said = await others(world, WITH_TOKEN)
          const kept = mine.filter(({ closed }) => !closed).length
          for (const one of [session, second]) one.destroy()
          return `80 of 80 places, ${kept} of them with a credential; another with one ${said}`
        },
        {},
      ),
  ),
]
