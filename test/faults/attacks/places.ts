import { once } from 'node:events'
import http2 from 'node:http2'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { WebSocket, WebSocketServer } from 'ws'
import type { Config } from '../../../src/app/config/settings.ts'
import type { TestProxy } from '../../stage/proxy.ts'
import { until } from '../../stage/until.ts'
import type { Fault } from '../fault.ts'
import { metric } from '../process/child.ts'
import { say } from '../say.ts'
import { SECURE, talk } from '../wire.ts'
import { type Behaviour, inWorld, serving, type World } from '../world.ts'

const GROUPS = 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\n\r\n'

const inFlight = (proxy: TestProxy) => metric(proxy, 'crosswalk_requests_in_flight')

/** Waits until no request is in flight and returns a client's next answer. */
async function afterwards({ proxy }: World): Promise<string> {
  await until(async () => (await inFlight(proxy)) === 0)
  return `none in flight; then ${say((await talk(proxy.url, GROUPS, 1)).answers[0])}`
}

const connect = (url: string): Socket => {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

const SESSIONS = 4

/** Starts HTTP/2 clients that allow no bytes for the answers to their requests. */
async function noWindow(path: string, settings: Partial<Config>): Promise<string> {
  const limits: Partial<Config> = { 'limits.requestsInFlight': 80, 'limits.writeTimeoutMs': 300, 'upstream.v1': undefined, ...settings }
  return inWorld(serving(3), limits, async (world) => {
    const sessions = Array.from({ length: SESSIONS }, () =>
      http2.connect(world.proxy.url, { settings: { initialWindowSize: 0 }, rejectUnauthorized: false }),
    )
    let streams = 0
    for (const session of sessions) {
      session.on('error', () => {})
      await once(session, 'remoteSettings')
      const most = session.remoteSettings.maxConcurrentStreams ?? 0
      streams += most
      for (let at = 0; at < most; at += 1) session.request({ ':path': path }).on('error', () => {})
    }
    await until(async () => (await inFlight(world.proxy)) > 0)
    const said = await afterwards(world)
    for (const session of sessions) session.destroy()
    return `${streams} of 80 places; ${said}`
  })
}

/** Waits until no request is in flight. */
async function settled({ proxy }: World): Promise<string> {
  await until(async () => (await inFlight(proxy)) === 0)
  return 'none in flight'
}

/** Starts HTTP/1.1 clients that request more than their connection holds and read none of it. */
async function noReader(path: string): Promise<string> {
  const large: Behaviour = (_, response) => void response.end('x'.repeat(20_000_000))
  return inWorld(large, { 'limits.writeTimeoutMs': 300 }, async (world) => {
    const clients = Array.from({ length: 4 }, () => connect(world.proxy.url).pause())
    for (const client of clients) client.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await until(async () => (await inFlight(world.proxy)) === 4)
    await settled(world)
    for (const client of clients) client.destroy()
    return 'none in flight'
  })
}

/** Counts all connections to the services. */
function connectionsOf({ upstream }: World): Promise<number> {
  return new Promise((resolve) => upstream.server.getConnections((_, count) => resolve(count)))
}

/** Sends bodies byte by byte, without end. The services do not wait for them either. */
async function slowBodies(path: string): Promise<string> {
  return inWorld(serving(3), { 'limits.bodyTimeoutMs': 300, 'limits.requestsInFlight': 28 }, async (world) => {
    const trickle = (socket: Socket) => {
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n`)
      const timer = setInterval(() => socket.write('x'), 20)
      socket.once('close', () => clearInterval(timer))
    }
    const talks = Array.from({ length: 20 }, () => talk(world.proxy.url, trickle))
    const said = (await Promise.all(talks)).map(({ answers, closed }) => `${say(answers[0])}${closed ? ' and closed' : ''}`)
    await until(async () => (await connectionsOf(world)) <= 1)
    return `${[...new Set(said)].join()}; ${await afterwards(world)}`
  })
}

/** The same over HTTP/2. */
async function slowBodies2(path: string): Promise<string> {
  return inWorld(serving(3), { 'limits.bodyTimeoutMs': 300 }, async (world) => {
    const session = http2.connect(world.proxy.url)
    const stream = session.request({ ':path': path, ':method': 'POST', 'content-length': 1000 })
    stream.on('error', () => {})
    const timer = setInterval(() => stream.write('x'), 20)
    const [{ ':status': status }] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
    stream.resume()
    await once(stream, 'close')
    clearInterval(timer)
    const said = `${status}, closed with ${stream.rstCode}`
    session.destroy()
    return `${said}; ${await afterwards(world)}`
  })
}

/** Opens WebSockets beyond their limit, and silent ones. */
async function webSockets(): Promise<string> {
  const limits = { 'limits.webSockets': 3, 'limits.webSocketIdleMs': 1000, 'limits.requestsInFlight': 10 }
  return inWorld(serving(3), limits, async (world) => {
    const server = new WebSocketServer({ server: world.upstream.server })
    const sockets = Array.from({ length: 6 }, () => new WebSocket(`${world.proxy.url.replace('http', 'ws')}/socket`))
    const said = await Promise.all(
      sockets.map(async (socket) => {
        const opened = once(socket, 'open').then(() => 'open')
        const refused = new Promise<string>((resolve) => socket.once('error', ({ message }) => resolve(message)))
        return Promise.race([opened, refused])
      }),
    )
    const open = said.filter((one) => one === 'open').length
    const [refused] = said.filter((one) => one !== 'open')
    const [places, counted] = [await inFlight(world.proxy), await metric(world.proxy, 'crosswalk_web_sockets')]
    await until(async () => (await metric(world.proxy, 'crosswalk_web_sockets')) === 0)
    server.close()
    return `${open} open and counted ${counted}, ${places} in flight; the others: ${refused}; the silent ones are ended`
  })
}

/** Begins TLS handshakes and never finishes them. */
async function stalledTls(): Promise<string> {
  return inWorld(serving(3), { ...SECURE, 'limits.headersTimeoutMs': 300 }, async ({ proxy }) => {
    const socket = connect(proxy.url)
    const ended = once(socket.resume(), 'close')
    socket.write(Buffer.from('16030100ff010000fb', 'hex'))
    await ended
    for (const protocol of ['http/1.1', 'h2']) {
      const late = connect(proxy.url)
      const closed = once(late, 'close')
      const secure = tls.connect({ socket: late, rejectUnauthorized: false, ALPNProtocols: [protocol] })
      secure.on('error', () => {}).resume()
      await once(secure, 'secureConnect')
      await closed
    }
    return 'all ended: one in its handshake, and those that then say nothing'
  })
}

/** Checks that a silent HTTP/2 session ends with its endless streams. */
async function idleSession(): Promise<string> {
  return inWorld(
    () => {},
    { 'limits.idleTimeoutMs': 300 },
    async (world) => {
      const session = http2.connect(world.proxy.url)
      session.on('error', () => {})
      session.request({ ':path': '/iam/v2/groups' }).on('error', () => {})
      await once(session, 'close')
      return settled(world)
    },
  )
}

/** Sends requests of every method over HTTP/2 that v2 never answers and the client cancels. */
async function givenUp(): Promise<string> {
  return inWorld(
    () => {},
    {},
    async (world) => {
      const session = http2.connect(world.proxy.url)
      session.on('error', () => {})
      const methods = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']
      const streams = methods.map((method) => session.request({ ':path': '/iam/v2/groups', ':method': method }, { endStream: true }))
      for (const stream of streams) stream.on('error', () => {})
      await until(async () => (await inFlight(world.proxy)) === methods.length)
      for (const stream of streams) stream.close(8)
      const said = await settled(world)
      session.destroy()
      return said
    },
  )
}

export const placeAttacks: readonly Fault[] = [
  ...(['/iam/v1/nothing', '/iam/v1/groups', '/iam/v2/groups'] as const).flatMap((path) => [
    {
      name: `no window for the answers from ${path}`,
      expected: '40 of 80 places; none in flight; then 200, 3 rows',
      see: () => noWindow(path, {}),
    },
    {
      name: `no window over TLS for the answers from ${path}`,
      expected: '40 of 80 places; none in flight; then 200, 3 rows',
      see: () => noWindow(path, SECURE),
    },
  ]),
  ...['/download', '/registry/v1/vuln_reports'].map((path) => ({
    name: `answers from ${path} that nobody reads`,
    expected: 'none in flight',
    see: () => noReader(path),
  })),
  ...['/upload', '/registry/v1/vuln_reports'].flatMap((path) => [
    {
      name: `bodies for ${path} that come byte by byte`,
      expected: '408/3 and closed; none in flight; then 200, 3 rows',
      see: () => slowBodies(path),
    },
    {
      name: `a body for ${path} that comes byte by byte over HTTP/2`,
      expected: '408, closed with 0; none in flight; then 200, 3 rows',
      see: () => slowBodies2(path),
    },
  ]),
  {
    name: 'WebSockets, too many and silent',
    expected: '3 open and counted 3, 0 in flight; the others: Unexpected server response: 503; the silent ones are ended',
    see: webSockets,
  },
  { name: 'TLS handshakes that stall', expected: 'all ended: one in its handshake, and those that then say nothing', see: stalledTls },
  { name: 'requests given up over HTTP/2', expected: 'none in flight', see: givenUp },
  { name: 'an HTTP/2 connection that says nothing, with a stream that never ends', expected: 'none in flight', see: idleSession },
]
