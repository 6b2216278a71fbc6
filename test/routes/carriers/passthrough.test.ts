import { createHash } from 'node:crypto'
import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { startProxy, type TestProxy } from '../../stage/proxy.ts'
import { rawExchange } from '../../stage/raw-exchange.ts'
import { startUpstream, type Upstream } from '../../stage/upstream.ts'

const BODY = Buffer.from(Array.from({ length: 256 }, (_, at) => at))

let v2: Upstream
let proxy: TestProxy

beforeAll(async () => {
  v2 = await startUpstream((request, response, body) => {
    if (request.url === '/hang') return
    if (request.url === '/again') return void response.end()
    if (request.url === '/cut') {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half')
      return void setImmediate(() => response.destroy())
    }
    response.sendDate = false
    response.writeHead(
      203,
      'Odd But Fine',
      [
        ['X-Custom-CASE', 'one'],
        ['x-custom-case', 'two'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['Date', 'Thu, 01 Jan 2026 00:00:00 GMT'],
        ['Content-Type', 'application/octet-stream'],
        ['Content-Length', String(BODY.length)],
        ['Connection', 'close, x-hop'],
        ['X-Hop', 'only here'],
        ['Keep-Alive', 'timeout=9'],
        ['X-Sha', createHash('sha256').update(body).digest('hex')],
      ].flat(),
    )
    response.end(BODY)
  })
  const sockets = new WebSocketServer({ server: v2.server, path: '/socket' })
  sockets.on('connection', (socket, request) => {
    socket.on('message', (message) => socket.send(`${request.headers.authorization} ${message}`))
  })
  proxy = await startProxy({ 'upstream.v2': v2.url })
})

afterAll(async () => {
  await proxy.close()
  await v2.close()
})

beforeEach(() => {
  v2.seen.length = 0
})

const HOP = /^(connection|keep-alive|transfer-encoding|x-hop):/i
const withoutHop = (answer: string) =>
  answer
    .split('\r\n')
    .filter((line) => !HOP.test(line))
    .join('\r\n')

describe('a native request', () => {
  const bytes = (target: string) => `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer t\r\n\r\n`

  it('gets v2’s answer byte for byte, except hop-by-hop headers', async () => {
    const direct = await rawExchange(v2.url, bytes('/iam/v2/groups'))
    const through = await rawExchange(proxy.url, bytes('/iam/v2/groups'))
    expect(withoutHop(through)).toBe(withoutHop(direct))
    expect(through).not.toContain('only here')
  })

  it.each(['/a/../b', '//twice', '/%2F%zz', '/a?b=c?d&e=%20+|', '/x/%2e%2e/iam/v1/groups'])('keeps its target %s', async (target) => {
    await rawExchange(proxy.url, bytes(target))
    expect(v2.seen[0]?.url).toBe(target)
  })

  it('keeps its headers and loses those of the connection', async () => {
    await rawExchange(
      proxy.url,
      'GET /x HTTP/1.1\r\nhost: x\r\nconnection: close, x-mine\r\nx-mine: 1\r\nx-kept: 2\r\nte: trailers\r\nproxy-authorization: secret\r\nx-request-id: 7\r\n\r\n',
    )
    const { host } = new URL(v2.url)
    expect(v2.seen[0]?.headers).toEqual({
      host,
      'x-kept': '2',
      'x-request-id': '7',
      'cdn-loop': expect.stringMatching(/^crosswalk-[\w-]{12}$/),
      connection: 'keep-alive',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'x',
    })
  })

  it('carries large bodies, with a length and in chunks', async () => {
    const body = 'y'.repeat(3_000_000)
    const sha = createHash('sha256').update(body).digest('hex')
    const stream = new Blob([body]).stream()
    const sized = await fetch(`${proxy.url}/upload`, { method: 'PUT', body })
    const chunked = await fetch(`${proxy.url}/upload`, { method: 'POST', body: stream, duplex: 'half' } as RequestInit)
    expect([sized.headers.get('x-sha'), chunked.headers.get('x-sha')]).toEqual([sha, sha])
  })

  it('reuses connections to v2', async () => {
    let connections = 0
    v2.server.on('connection', () => {
      connections += 1
    })
    for (let at = 0; at < 5; at += 1) await (await fetch(`${proxy.url}/again`)).arrayBuffer()
    expect(connections).toBeLessThanOrEqual(1)
  })

  it('is broken off if v2 breaks it off', async () => {
    const answer = await fetch(`${proxy.url}/cut`)
    await expect(answer.text()).rejects.toThrow()
  })

  it('is 502 if v2 switches protocols unasked', async () => {
    const sockets: net.Socket[] = []
    const odd = net.createServer((socket) => {
      sockets.push(socket)
      socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n'))
    })
    await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve))
    const other = await startProxy({ 'upstream.v2': `http://127.0.0.1:${(odd.address() as net.AddressInfo).port}` })
    expect((await fetch(`${other.url}/iam/v2/groups`)).status).toBe(502)
    await other.close()
    expect(sockets.every(({ readableEnded, destroyed }) => readableEnded || destroyed)).toBe(true)
    odd.close()
  })

  it('is cancelled and logged as 499 when its client goes away', async () => {
    const request = http.get(`${proxy.url}/hang`)
    request.on('error', () => {})
    const arrived = new Promise<http.IncomingMessage>((resolve) => v2.server.once('request', resolve))
    const upstreamRequest = await arrived
    const closed = new Promise((resolve) => upstreamRequest.socket.once('close', resolve))
    request.destroy()
    await closed
    expect(await proxy.logged(({ path }) => path === '/hang')).toMatchObject({ status: 499, mode: 'native' })
  })

  it.each(['DELETE', 'OPTIONS'])('requires a length instead of chunks for a %s', async (method) => {
    const request = `${method} /x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`
    const answer = await rawExchange(proxy.url, request)
    expect(answer).toMatch(/^HTTP\/1\.1 411 .*"code":3,"message":"a DELETE or OPTIONS request with a body needs a content-length header"/s)
    expect(v2.seen).toEqual([])
  })
})

describe('a native request with v2 down', () => {
  it('is 503 in the common form, and a WebSocket is refused', async () => {
    const alone = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' })
    const answer = await fetch(`${alone.url}/iam/v2/groups`)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toEqual({ code: 14, message: 'the v2 service cannot be reached', details: [] })
    expect(await alone.logged(() => true)).toMatchObject({ status: 503, mode: 'native', error: { code: 'UNAVAILABLE' } })
    const socket = new WebSocket(`${alone.url.replace('http', 'ws')}/socket`)
    const refused = await new Promise<Error>((resolve) => socket.once('error', resolve))
    expect(refused.message).toContain('503')
    await alone.close()
  })
})

describe('WebSockets', () => {
  it('carry bytes both ways', async () => {
    const socket = new WebSocket(`${proxy.url.replace('http', 'ws')}/socket`, { headers: { authorization: 'Bearer t' } })
    const answer = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))))
    socket.once('open', () => socket.send('hello'))
    expect(await answer).toBe('Bearer t hello')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.close()
    await closed
  })

  it('end with the proxy', async () => {
    const other = await startProxy({ 'upstream.v2': v2.url })
    const socket = new WebSocket(`${other.url.replace('http', 'ws')}/socket`)
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('open', resolve))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await other.close()
    await closed
  })
})

it('ignore an offer of h2c, even with a body in pieces', async () => {
  const { hostname, port } = new URL(proxy.url)
  const head =
    'POST /h2c HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\ncontent-length: 10\r\n\r\n'
  const socket = net.connect(Number(port), hostname, () => socket.write(`${head}hello`))
  v2.server.once('request', () => socket.write('world'))
  await new Promise((resolve) => socket.once('data', resolve))
  socket.destroy()
  expect(v2.seen[0]).toMatchObject({ method: 'POST', url: '/h2c', body: 'helloworld' })
  expect(v2.seen[0]?.headers).not.toHaveProperty('http2-settings')
})
