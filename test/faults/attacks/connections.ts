import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import type { Config } from '../../../src/app/config/settings.ts'
import { startProxy } from '../../stage/proxy.ts'
import { until } from '../../stage/until.ts'
import type { Fault } from '../fault.ts'
import { say } from '../say.ts'
import { dial, SECURE, talk } from '../wire.ts'
import { type Behaviour, inWorld, serving } from '../world.ts'

const NATIVE = '/iam/v2/groups'
const HANDSHAKE = `GET ${NATIVE} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n`
const HIDDEN = 'DELETE /iam/v2/groups/stolen HTTP/1.1\r\nhost: x\r\n\r\n'
const get = (path: string, lines = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${lines}\r\n`

/** The protocol of the port: plain or TLS. */
type Port = Partial<Config>

/** Sends a handshake with a body, then harmless requests of another client. Each must be read as what it is. */
async function handshakeWithBody(port: Port): Promise<string> {
  return inWorld(serving(3), port, async ({ proxy, upstream }) => {
    const said: string[] = []
    for (const framing of [`content-length: ${HIDDEN.length}\r\n`, 'transfer-encoding: chunked\r\n', 'transfer-encoding: identity\r\n']) {
      const { answers, closed } = await talk(proxy.url, `${HANDSHAKE}${framing}\r\n${HIDDEN}`)
      said.push(`${answers.map(say).join()}${closed ? ' and closed' : ''}`)
    }
    const { answers } = await talk(proxy.url, get(NATIVE).repeat(3), 3)
    return `${[...new Set(said)].join()}; then ${answers.map(say).join()}; v2 saw ${upstream.seen.map(({ method }) => method).join()}`
  })
}

/** Sends handshakes that v2 refuses, each on a connection of its own that is not reused. */
async function refusedHandshakes(port: Port): Promise<string> {
  return inWorld(serving(3), port, async ({ proxy, upstream }) => {
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
}

/** Returns the answers to a slow request and to the bytes after it, in the order of their arrival. */
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
async function answeringEarly(): Promise<{ readonly url: string; readonly open: Set<Socket>; close(): void }> {
  const open = new Set<Socket>()
  const server = net.createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
    socket.on('data', (bytes) => {
      if (bytes.includes('\r\n\r\n')) socket.write('HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  const close = () => {
    for (const socket of open) socket.destroy()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, open, close }
}

const UPLOADS = 100

/** Opens clients that leave, or send nothing more, once v2 has answered before their body was complete. */
async function earlyAnswers(path: string, leave: boolean, port: Port): Promise<string> {
  const service = await answeringEarly()
  const proxy = await startProxy({ 'upstream.v2': service.url, 'upstream.v1': service.url, 'upstream.connections': UPLOADS, ...port })
  const clients = Array.from({ length: UPLOADS }, () => {
    const client = dial(proxy.url)
    client.on('error', () => {})
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
async function transferCodings(port: Port): Promise<string> {
  return inWorld(serving(3), port, async ({ proxy, upstream }) => {
    for (const coding of CODINGS) {
      const head = `POST /upload HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: ${coding}\r\n\r\n`
      await talk(proxy.url, `${head}5\r\nhello\r\n0\r\n\r\n`)
    }
    const seen = upstream.seen.map(({ headers, body }) => `${headers['transfer-encoding']} ${body}`)
    return [...new Set(seen)].join()
  })
}

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
  {
    name: 'a handshake with a body',
    expected: '400/3 and closed; then 200,200,200; v2 saw GET,GET,GET',
    see: () => handshakeWithBody(port),
  },
  { name: 'handshakes that v2 refuses', expected: '0 of 6 connections used again; then 200', see: () => refusedHandshakes(port) },
  {
    name: 'a handshake behind a slow request',
    expected: '200 {"path":"/slow"},200 {"path":"/iam/v2/groups"}',
    see: () => inOrder(`${HANDSHAKE}\r\n`, port),
  },
  {
    name: 'an offer of h2c behind a slow request',
    expected: '200 {"path":"/slow"},200 {"path":"/second"},200 {"path":"/third"}',
    see: () => inOrder(get('/second', 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n'), port),
  },
  ...['/upload', '/registry/v1/vuln_reports'].flatMap((path) =>
    [true, false].map((leave) => ({
      name: `an answer before the end of the body of ${path}, and a client that ${leave ? 'leaves' : 'stays'}`,
      expected: '401; every connection over within a second',
      see: () => earlyAnswers(path, leave, port),
    })),
  ),
  {
    name: 'pipelines of native requests',
    expected: '90 answered, no more than 2 calls at once',
    see: () => pipeline(90, port),
  },
  {
    name: 'a pipeline longer than limits.streams',
    expected: '0 answered, no more than 2 calls at once',
    see: () => pipeline(900, port),
  },
  { name: 'transfer codings in odd words', expected: 'chunked hello', see: () => transferCodings(port) },
  ...['/upload', '/registry/v1/vuln_reports'].map((path) => ({
    name: `a Connection header that names what the proxy writes, ${path}`,
    expected: '2 seen; for 127.0.0.1, body whole',
    see: () => namedHeaders(path, port),
  })),
  ...[200, 401, 417].map((status) => ({
    name: `Expect: 100-continue, answered ${status}`,
    expected: `100,${status},${status}; v2 saw POST,GET`,
    see: () => expectations(status, port),
  })),
]

export const connectionAttacks: readonly Fault[] = [
  ...attacksOn({}),
  ...attacksOn(SECURE).map((fault) => ({ ...fault, name: `${fault.name}, over TLS`, full: true as const })),
]
