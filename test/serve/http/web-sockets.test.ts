import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import net, { type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { beforeEach, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createWebSockets } from '../../../src/serve/http/web-sockets.ts'
import type { Native } from '../../../src/serve/upstream/native.ts'
import { metric } from '../../programs/faults/process/child.ts'
import { until } from '../../stage/clocks.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import { answering, type Handler, listening, rawExchange } from '../../stage/upstream.ts'

const HANDSHAKE =
  'host: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
let proxy: Stage<null, Handler>

beforeEach(async () => {
  proxy = await startStage({ v1: null, v2: answering({ groups: [] }) })
  const server = new WebSocketServer({ server: proxy.v2.server, path: '/socket' })
  server.on('connection', (socket, { headers }) => socket.on('message', (message) => socket.send(`${headers.authorization} ${message}`)))
})

async function open(path = '/socket') {
  const socket = new WebSocket(`${proxy.url.replace('http', 'ws')}${path}`, { headers: { authorization: 'Bearer secret' } })
  await once(socket, 'open')
  return socket
}

it('carries bytes both ways, and logs the handshake and the end of a WebSocket, without its query', async () => {
  const socket = await open('/socket?token=secret')
  expect(await metric(proxy, 'crosswalk_web_sockets')).toBe(1)
  expect(await metric(proxy, 'crosswalk_requests_in_flight')).toBe(0)
  socket.send('hello')
  expect(String((await once(socket, 'message'))[0])).toBe('Bearer secret hello')
  socket.close()
  await once(socket, 'close')
  const end = await proxy.logged(({ msg }) => msg === 'websocket')
  expect(end).toMatchObject({ path: '/socket', client: '127.0.0.1', received: expect.any(Number), sent: expect.any(Number) })
  expect(await proxy.logged(({ status }) => status === 101)).toMatchObject({ operation: 'native', path: '/socket', reqId: end.reqId })
  expect(JSON.stringify(proxy.log)).not.toContain('secret')
  expect(await metric(proxy, 'crosswalk_web_sockets')).toBe(0)
})

it('answers a handshake on a v1 path as an ordinary request', async () => {
  expect(await rawExchange(proxy.url, `GET /iam/v1/groups HTTP/1.1\r\n${HANDSHAKE}`)).toMatch(
    /^HTTP\/1\.1 200 .*connection: close.*\{"items":\[\]\}$/is,
  )
  expect(proxy.v2.seen.map(({ url }) => url.split('?')[0])).toEqual(['/iam/v2/groups'])
})

it.each([
  ['a length', 'GET', 'content-length: 3\r\n'],
  ['a length of 0', 'GET', 'content-length: 0\r\n'],
  ['chunks', 'GET', 'transfer-encoding: chunked\r\n'],
  ['another method', 'POST', ''],
])('refuses a handshake with %s', async (_, method, line) => {
  const answer = await rawExchange(proxy.url, `${method} /socket HTTP/1.1\r\n${line}${HANDSHAKE}`)
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*"message":"a WebSocket handshake is a GET without content-length and transfer-encoding"/s)
  expect(proxy.v2.seen).toEqual([])
})

/** A service that answers a handshake with these bytes. */
async function startOdd(bytes: string) {
  const sockets: Socket[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {}).once('data', () => socket.write(bytes, 'latin1'))
  })
  return { url: (await listening(server)).url, sockets }
}

it.each([
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: h2c\r\n\r\n'],
  ['a status that nobody can write', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'],
])('answers 502 and closes the connection for %s in a handshake’s answer', async (_, bytes) => {
  const odd = await startOdd(bytes)
  const other = await startStage({ v1: null, v2: odd.url })
  const answer = await rawExchange(other.url, `GET /socket HTTP/1.1\r\n${HANDSHAKE}`)
  expect(answer).toMatch(
    /^HTTP\/1\.1 502 .*\{"code":13,"message":"the v2 service sent an answer that cannot be passed on","details":\[\]\}$/s,
  )
  expect(await other.logged(({ status }) => status === 502)).toMatchObject({
    error: { code: 'INTERNAL', cause: expect.stringMatching(/^its /) },
  })
})

it('ends the WebSocket at v2 when the client is gone', async () => {
  const gone = new Promise((resolve) => proxy.v2.server.once('upgrade', (_, socket: Socket) => socket.once('close', resolve)))
  ;(await open()).terminate()
  await gone
})

it('ends a WebSocket with the proxy', async () => {
  const closed = once(await open(), 'close')
  await proxy.close()
  await closed
})

it.each([
  ['goes away', (client: Socket) => client.end()],
  ['breaks off', (client: Socket) => client.resetAndDestroy()],
])('ends a handshake that v2 never answers when its client %s', async (_, leave) => {
  const odd = await startOdd('')
  const other = await startStage({ v1: null, v2: odd.url })
  const client = net.connect(Number(new URL(other.url).port), '127.0.0.1')
  client.on('error', () => {}).write(`GET /socket HTTP/1.1\r\n${HANDSHAKE}`)
  await until(async () => odd.sockets.length === 1)
  leave(client)
  await until(async () => odd.sockets[0]?.destroyed === true || odd.sockets[0]?.readableEnded === true)
  await until(async () => (await metric(other, 'crosswalk_web_sockets')) === 0)
})

it('ends a handshake that v2 never answers after limits.webSocketIdleMs', async () => {
  const odd = await startOdd('')
  const other = await startStage({ v1: null, v2: odd.url, proxy: { 'limits.webSocketIdleMs': 100 } })
  expect(await rawExchange(other.url, `GET /socket HTTP/1.1\r\n${HANDSHAKE}`)).toBe('')
  expect(await metric(other, 'crosswalk_requests_in_flight')).toBe(0)
})

it('ends only the connection whose service breaks off before its client read', async () => {
  const quiet = () => new Duplex({ read() {}, write() {} }) as Socket
  const client = quiet()
  const upstream = quiet()
  const response = new ServerResponse(new IncomingMessage(client))
  response.assignSocket(client)
  const native: Native = {
    web() {},
    shakeHands: (_, __, switched) => switched(new IncomingMessage(upstream), upstream, Buffer.alloc(0)),
    close() {},
  }
  const webSockets = createWebSockets(native, { webSockets: 1, webSocketIdleMs: 60_000 }, () => {})
  const handshake = {
    socket: Object.assign(client, { setTimeout() {}, destroySoon: () => client.destroy() }),
    head: Buffer.alloc(0),
    taken() {},
  }
  webSockets.open(response.req, response, handshake as never, () => {})
  upstream.destroy(new Error('reset'))
  await once(client, 'close')
  expect(webSockets.count()).toBe(0)
})
