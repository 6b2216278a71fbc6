import { once } from 'node:events'
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Config } from '../../../src/app/config/settings.ts'
import { connect2 } from '../../listen/fetch2.ts'
import { until } from '../../stage/until.ts'
import type { Fault } from '../fault.ts'
import { metric } from '../process/child.ts'
import { say } from '../say.ts'
import { talk } from '../wire.ts'
import { inWorld, serving, type World } from '../world.ts'

const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
const UNARY = '/chainguard.platform.iam.v2.GroupsService/ListGroups'
const FOREIGN = '/somebody.else.Service/Streams'

/** A request that is answered without a service. */
const NOTHING = 'GET /iam/v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n'
const TOKEN = { authorization: 'Bearer t' }
const WITH_TOKEN = NOTHING.replace('\r\n\r\n', '\r\nauthorization: Bearer t\r\n\r\n')

const isCall = (path: string) => path.includes('.')

/** Begins a call whose message trickles in and never ends. */
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

/** Starts a gRPC service that never answers. */
async function startSilent() {
  const server = http2.createServer().on('stream', (stream) => void stream.on('error', () => {}).resume())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
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

const inFlight = ({ proxy }: World) => metric(proxy, 'crosswalk_requests_in_flight')

async function others({ proxy }: World, request = NOTHING): Promise<string> {
  return String(say((await talk(proxy.url, request, 1)).answers[0]))
}

/** Waits for the ends of all, and counts them. */
async function ends(all: readonly ClientHttp2Stream[]): Promise<string> {
  const counts = new Map<string, number>()
  for (const end of await Promise.all(all.map(endOf))) counts.set(end, (counts.get(end) ?? 0) + 1)
  return [...counts].map(([end, count]) => `${count} × ${end}`).join(', ')
}

export const streamAttacks: readonly Fault[] = [
  {
    name: 'more calls of reflection than there are places for it',
    expected: 'others 404/5; 60 × status 8 at once',
    see: () =>
      held(REFLECTION, {}, async (world, all) => {
        const refused = all.map(endOf)
        const over: string[] = []
        for (const one of refused) one.then((end) => over.push(end)).catch(() => {})
        await until(async () => over.length >= 60)
        return `others ${await others(world)}; ${over.length} × ${[...new Set(over)].join()} at once`
      }),
  },
  ...['/chainguard.platform.iam.v2.GroupsService/ListGroups', '/chainguard.platform.iam.Groups/List'].map((path) => ({
    name: `messages for ${path} that trickle in for longer than a body may`,
    expected: '80 × status 4; then 404/5',
    see: () =>
      held(path, { 'limits.bodyTimeoutMs': 500 }, async (world, all) => {
        const said = await ends(all)
        await until(async () => (await inFlight(world)) === 0)
        return `${said}; then ${await others(world)}`
      }),
  })),
  {
    name: 'a relayed call of one message that lasts longer than a request may',
    expected: '80 × status 4; then 404/5',
    see: () =>
      held(UNARY, { 'limits.deadlineMs': 700 }, async (world, all) => {
        const said = await ends(all)
        await until(async () => (await inFlight(world)) === 0)
        return `${said}; then ${await others(world)}`
      }),
  },
  {
    name: 'streams of messages that hardly move',
    expected: '20 × status 4, 60 × status 8; then 404/5',
    see: () =>
      held(FOREIGN, { 'limits.idleTimeoutMs': 1000 }, async (world, all) => {
        const said = (await ends(all)).split(', ').sort().join(', ')
        await until(async () => (await inFlight(world)) === 0)
        return `${said}; then ${await others(world)}`
      }),
  },
  {
    name: 'bodies without a credential on more connections than there are places',
    expected: '60 of 80 places; without one 503/14, again after 1 s, with one 404/5',
    see: () =>
      held(
        '/iam/v2/groups',
        {},
        async (world) => {
          await until(async () => (await inFlight(world)) >= 60)
          const [without, withOne] = [await others(world), await others(world, WITH_TOKEN)]
          return `${await inFlight(world)} of 80 places; without one ${without}, with one ${withOne}`
        },
        {},
      ),
  },
  {
    name: 'all places held by bodies, some of them without a credential',
    expected: '80 of 80 places, 20 of them with a credential; another with one 404/5',
    see: () =>
      held(
        '/iam/v2/groups',
        {},
        async (world) => {
          await until(async () => (await inFlight(world)) === 60)
          const session = await connect2(world.proxy.url)
          const second = await connect2(world.proxy.url)
          const mine = [session, second].flatMap((one) => Array.from({ length: 10 }, () => trickling(one, '/iam/v2/groups', TOKEN)))
          await until(async () => (await inFlight(world)) === 80)
          const said = await others(world, WITH_TOKEN)
          const kept = mine.filter(({ closed }) => !closed).length
          for (const one of [session, second]) one.destroy()
          return `80 of 80 places, ${kept} of them with a credential; another with one ${said}`
        },
        {},
      ),
  },
]
