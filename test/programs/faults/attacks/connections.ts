import { once } from 'node:events'
import http2 from 'node:http2'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { WebSocket, WebSocketServer } from 'ws'
import type { Config } from '../../../../src/app/config/settings.ts'
import { until } from '../../../stage/clocks.ts'
import { listening } from '../../../stage/programs.ts'
import { startProxy } from '../../../stage/stage.ts'
import { afterwards, type Behaviour, type Fault, fault, get, inWorld, say, serving, type World } from '../fault.ts'
import { idle, inFlight, metric } from '../process/child.ts'
import { dial, SECURE, talk } from '../wire.ts'

const NATIVE = '/iam/v2/groups'
const UPGRADE = 'connection: Upgrade\r\nupgrade: websocket\r\n'
const HANDSHAKE = get(NATIVE, UPGRADE).slice(0, -2)
const HIDDEN = 'DELETE /iam/v2/groups/stolen HTTP/1.1\r\nhost: x\r\n\r\n'

type Port = Partial<Config>

const refusedHandshakes = (port: Port) =>
  inWorld(serving(3), port, async ({ proxy, upstream }) => {
    const sockets = new Set<Socket>()
    let again = 0
    upstream.server.on('request', ({ socket }) => {
      again += Number(sockets.has(socket))
      sockets.add(socket)
    })
    for (let at = 0; at < 5; at += 1) await talk(proxy.url, `${HANDSHAKE}sec-websocket-version: 13\r\n\r\n`)
    const { answers } = await talk(proxy.url, get(NATIVE), 1)
    return `${again} of ${sockets.size} connections used again; then ${answers.map(say).join()}`
  })

async function inOrder(second: string, port: Port): Promise<string> {
  const slow: Behaviour = (request, response) => {
    const answer = () => void response.end(`{"path":"${request.url}"}`)
    if (request.url === '/slow') setTimeout(answer, 50)
    else answer()
  }
  return inWorld(slow, port, async ({ proxy }) => {
    const { answers } = await talk(proxy.url, get('/slow') + second + get('/third', 'connection: close\r\n'), 3)
    return answers.map(({ status, body }) => `${status} ${body}`).join()
  })
}

/** Starts a service that answers as soon as it has read a head, and counts its connections. */
async function answeringEarly() {
  const open = new Set<Socket>()
  const server = net.createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
    socket.on('data', (bytes) => {
      if (bytes.includes('\r\n\r\n')) socket.write('HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
    })
  })
  const { url } = await listening(server)
  const close = () => {
    for (const socket of open) socket.destroy()
    server.close()
  }
  return { url, open, close }
}

const UPLOADS = 100

/** Opens clients that leave, or send nothing more, once v2 has answered before their body was complete. */
async function earlyAnswers(path: string, leave: boolean, port: Port): Promise<string> {
  const service = await answeringEarly()
  const proxy = await startProxy({ 'upstream.v2': service.url, 'upstream.v1': service.url, 'upstream.connections': UPLOADS, ...port })
  const clients = Array.from({ length: UPLOADS }, () => {
    const client = dial(proxy.url)
    client.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\npart`)
    return client
  })
  const ends = clients.map((client) => once(client, 'close'))
  const heads = await Promise.all(clients.map(async (client) => String((await once(client, 'data'))[0]).slice(9, 12)))
  if (leave) for (const client of clients) client.destroy()
  const answered = performance.now()
  await Promise.all(ends)
  await until(async () => service.open.size === 0)
  const late = performance.now() - answered
  await proxy.close()
  service.close()
  return `${[...new Set(heads)].join()}; every connection over ${late < 1500 ? 'within a second' : `after ${late.toFixed(0)} ms`}`
}

/** Sends more requests in one packet than there may be connections to v2. */
async function pipeline(requests: number, port: Port): Promise<string> {
  let most = 0
  let open = 0
  const count: Behaviour = (_, response) => {
    open += 1
    most = Math.max(most, open)
    setImmediate(() => {
      open -= 1
      response.end('{}')
    })
  }
  return inWorld(count, { 'upstream.connections': 2, ...port }, async ({ proxy }) => {
    const clients = Array.from({ length: 4 }, () => talk(proxy.url, get(NATIVE).repeat(requests), requests))
    const answers = (await Promise.all(clients)).map(({ answers: all }) => all.filter(({ status }) => status === 200).length)
    return `${[...new Set(answers)].join()} answered, ${most <= 2 ? 'no more than 2' : most} calls at once`
  })
}

const CODINGS = ['chunked', 'ChUnKeD', 'identity, chunked', 'x, chunked', 'gzip,chunked']

/** Checks that the proxy replaces the client's framing of a body with its own. */
const transferCodings = (port: Port) =>
  inWorld(serving(3), port, async ({ proxy, upstream }) => {
    for (const coding of CODINGS) {
      const head = `POST /upload HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: ${coding}\r\n\r\n`
      await talk(proxy.url, `${head}5\r\nhello\r\n0\r\n\r\n`)
    }
    const seen = upstream.seen.map(({ headers, body }) => `${headers['transfer-encoding']} ${body}`)
    return [...new Set(seen)].join()
  })

/** Sends a `Connection` that names headers of the proxy, and the framing of a body. */
async function namedHeaders(path: string, port: Port): Promise<string> {
  const names = 'close, x-forwarded-for, x-forwarded-host, x-request-id, content-length, transfer-encoding, host'
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 9.9.9.9\r\nconnection: ${names}\r\n`
  return inWorld(serving(3), port, async ({ proxy, upstream }) => {
    await talk(proxy.url, `${head}content-length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`)
    await talk(proxy.url, `${head}transfer-encoding: chunked\r\n\r\n${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`)
    const told = upstream.seen.map(({ headers, body }) => `for ${headers['x-forwarded-for']}, body ${body === HIDDEN ? 'whole' : body}`)
    return `${upstream.seen.length} seen; ${[...new Set(told)].join()}`
  })
}

/** Sends a client's `Expect` before its body, to a v2 that refuses the body. */
async function expectations(status: number, port: Port): Promise<string> {
  const refusing: Behaviour = (_, response) => void response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  return inWorld(refusing, port, async ({ proxy, upstream }) => {
    const head = `POST /upload HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${HIDDEN.length}\r\n\r\n`
    const { answers } = await talk(proxy.url, head + HIDDEN + get(NATIVE), 2)
    const expects = upstream.seen.some(({ headers }) => 'expect' in headers)
    return `${answers.map((answer) => answer.status).join()}; v2 saw ${upstream.seen.map(({ method }) => method).join()}${expects ? ', expecting' : ''}`
  })
}

const attacksOn = (port: Port): readonly Fault[] => [
  fault('handshakes that v2 refuses', '0 of 6 connections used again; then 200', () => refusedHandshakes(port)),
  fault('a handshake behind a slow request', '200 {"path":"/slow"},200 {"path":"/iam/v2/groups"}', () => inOrder(`${HANDSHAKE}\r\n`, port)),
  fault('an offer of h2c behind a slow request', '200 {"path":"/slow"},200 {"path":"/second"},200 {"path":"/third"}', () =>
    inOrder(get('/second', 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n'), port),
  ),
  ...['/upload', '/registry/v1/vuln_reports'].flatMap((path) =>
    [true, false].map((leave) =>
      fault(
        `an answer before the end of the body of ${path}, and a client that ${leave ? 'leaves' : 'stays'}`,
        '401; every connection over within a second',
        () => earlyAnswers(path, leave, port),
      ),
    ),
  ),
  fault('pipelines of native requests', '90 answered, no more than 2 calls at once', () => pipeline(90, port)),
  fault('a pipeline longer than limits.streams', '0 answered, no more than 2 calls at once', () => pipeline(900, port)),
  fault('transfer codings in odd words', 'chunked hello', () => transferCodings(port)),
  ...['/upload', '/registry/v1/vuln_reports'].map((path) =>
    fault(`a Connection header that names what the proxy writes, ${path}`, '2 seen; for 127.0.0.1, body whole', () =>
      namedHeaders(path, port),
    ),
  ),
  ...[200, 401, 417].map((status) =>
    fault(`Expect: 100-continue, answered ${status}`, `100,${status},${status}; v2 saw POST,GET`, () => expectations(status, port)),
  ),
]

export const connectionAttacks: readonly Fault[] = [
  ...attacksOn({}),
  ...attacksOn(SECURE).map((fault) => ({ ...fault, name: `${fault.name}, over TLS`, full: true as const })),
]

const SESSIONS = 4

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
    const said = await afterwards(world.proxy)
    for (const session of sessions) session.destroy()
    return `${streams} of 80 places; ${said}`
  })
}

async function noReader(path: string): Promise<string> {
  const large: Behaviour = (_, response) => void response.end('x'.repeat(20_000_000))
  return inWorld(large, { 'limits.writeTimeoutMs': 300 }, async (world) => {
    const clients = Array.from({ length: 4 }, () => dial(world.proxy.url).pause())
    for (const client of clients) client.write(get(path))
    await until(async () => (await inFlight(world.proxy)) === 4)
    await idle(world.proxy)
    for (const client of clients) client.destroy()
    return 'none in flight'
  })
}

function connectionsOf({ upstream }: World): Promise<number> {
  return new Promise((resolve) => upstream.server.getConnections((_, count) => resolve(count)))
}

/** Sends bodies byte by byte, without end. The services do not wait for them either. */
const slowBodies = (path: string) =>
  inWorld(serving(3), { 'limits.bodyTimeoutMs': 300, 'limits.requestsInFlight': 28 }, async (world) => {
    const trickle = (socket: Socket) => {
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n`)
      const timer = setInterval(() => socket.write('x'), 20)
      socket.once('close', () => clearInterval(timer))
    }
    const talks = Array.from({ length: 20 }, () => talk(world.proxy.url, trickle))
    const said = (await Promise.all(talks)).map(({ answers, closed }) => `${say(answers[0])}${closed ? ' and closed' : ''}`)
    await until(async () => (await connectionsOf(world)) <= 1)
    return `${[...new Set(said)].join()}; ${await afterwards(world.proxy)}`
  })

const slowBodies2 = (path: string) =>
  inWorld(serving(3), { 'limits.bodyTimeoutMs': 300 }, async (world) => {
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
    return `${said}; ${await afterwards(world.proxy)}`
  })

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

export const placeAttacks: readonly Fault[] = [
  ...(['/iam/v1/nothing', '/iam/v1/groups', '/iam/v2/groups'] as const).flatMap((path) => [
    fault(`no window for the answers from ${path}`, '40 of 80 places; none in flight; then 200, 3 rows', () => noWindow(path, {})),
    fault(`no window over TLS for the answers from ${path}`, '40 of 80 places; none in flight; then 200, 3 rows', () =>
      noWindow(path, SECURE),
    ),
  ]),
  ...['/download', '/registry/v1/vuln_reports'].map((path) =>
    fault(`answers from ${path} that nobody reads`, 'none in flight', () => noReader(path)),
  ),
  ...['/upload', '/registry/v1/vuln_reports'].flatMap((path) => [
    fault(`bodies for ${path} that come byte by byte`, '408/3 and closed; none in flight; then 200, 3 rows', () => slowBodies(path)),
    fault(`a body for ${path} that comes byte by byte over HTTP/2`, '408, closed with 0; none in flight; then 200, 3 rows', () =>
      slowBodies2(path),
    ),
  ]),
  fault(
    'WebSockets, too many and silent',
    '3 open and counted 3, 0 in flight; the others: Unexpected server response: 503; the silent ones are ended',
    webSockets,
  ),
  fault('TLS handshakes that stall', 'all ended: one in its handshake, and those that then say nothing', () =>
    inWorld(serving(3), { ...SECURE, 'limits.headersTimeoutMs': 300 }, async ({ proxy }) => {
      const plain = proxy.url.replace('https:', 'http:')
      const socket = dial(plain)
      const ended = once(socket.resume(), 'close')
      socket.write(Buffer.from('16030100ff010000fb', 'hex'))
      await ended
      for (const protocol of ['http/1.1', 'h2']) {
        const late = dial(plain)
        const closed = once(late, 'close')
        const secure = tls.connect({ socket: late, rejectUnauthorized: false, ALPNProtocols: [protocol] })
        secure.on('error', () => {}).resume()
        await once(secure, 'secureConnect')
        await closed
      }
      return 'all ended: one in its handshake, and those that then say nothing'
    }),
  ),
  fault('requests given up over HTTP/2', 'none in flight', () =>
    inWorld(
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
        await idle(world.proxy)
        session.destroy()
        return 'none in flight'
      },
    ),
  ),
  fault('an HTTP/2 connection that says nothing, with a stream that never ends', 'none in flight', () =>
    inWorld(
      () => {},
      { 'limits.idleTimeoutMs': 300 },
      async (world) => {
        const session = http2.connect(world.proxy.url)
        session.on('error', () => {})
        session.request({ ':path': '/iam/v2/groups' }).on('error', () => {})
        await once(session, 'close')
        await idle(world.proxy)
        return 'none in flight'
      },
    ),
  ),
]
