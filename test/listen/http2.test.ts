import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import type { ClientHttp2Session } from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'
import { connect2, fetch2 } from './fetch2.ts'

const KEY = 'test/certificates/localhost.key'
const CERT = 'test/certificates/localhost.crt'
const ca = readFileSync(CERT, 'utf8')

let v2: Upstream
/** Lets v2 answer `/slow`. */
let release: () => void

/** Returns the body of an answer over HTTP/1.1. */
function fetch1(url: string, headers: http.OutgoingHttpHeaders): Promise<string> {
  const { hostname, port, pathname, protocol } = new URL(url)
  const options = { hostname, port, path: pathname, headers, agent: false as const }
  return new Promise((resolve, reject) => {
    const answered = (answer: http.IncomingMessage) => resolve(text(answer))
    const request = protocol === 'https:' ? https.get({ ...options, ca, servername: 'localhost' }, answered) : http.get(options, answered)
    request.on('error', reject)
  })
}

beforeAll(async () => {
  v2 = await startUpstream((request, response, body) => {
    if (request.url === '/hang') return
    if (request.url === '/slow') {
      release = () => void response.end()
      return
    }
    if (request.url?.includes('page_token')) return void response.destroy()
    if (request.url?.includes('name=long')) return void response.end('{"groups":[{"uid":"00","name":"long"}],"nextPageToken":"2"}')
    if (request.url?.startsWith('/iam/v2/groups')) return void response.end('{"groups":[{"uid":"00","name":"acme"}]}')
    if (request.url === '/cut') {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half')
      return void setImmediate(() => response.destroy())
    }
    response.writeHead(200, 'Fine', [
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'Connection',
      'x-hop',
      'X-Hop',
      '1',
      'X-Bytes',
      `${body.length}`,
    ])
    response.end(`${request.method} ${body.slice(0, 10)}`)
  })
  const sockets = new WebSocketServer({ server: v2.server, path: '/socket' })
  sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(`${message}!`)))
})

afterAll(() => v2.close())

beforeEach(() => {
  v2.seen.length = 0
})

describe.each(['plain text', 'TLS'])('HTTP/2 over %s', (way) => {
  let proxy: TestProxy
  let session: ClientHttp2Session

  beforeAll(async () => {
    proxy = await startProxy({
      'upstream.v2': v2.url,
      'limits.bufferedRows': 0,
      ...(way === 'TLS' && { 'tls.key': KEY, 'tls.cert': CERT }),
    })
    session = await connect2(proxy.url, way === 'TLS' ? ca : undefined)
  })

  afterAll(async () => {
    await proxy.close()
    expect(session.destroyed || session.closed).toBe(true)
  })

  it('serves v1', async () => {
    const answer = await fetch2(session, '/iam/v1/groups?limit=1', { authorization: 'Bearer t', 'x-request-id': 'h2' })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-request-id': 'h2' })
    expect(JSON.parse(answer.body).items).toMatchObject([{ id: '00', name: 'acme' }])
    expect(v2.seen[0]?.headers.authorization).toBe('Bearer t')
    expect(await proxy.logged(({ reqId }) => reqId === 'h2')).toMatchObject({ operation: 'iam.groups.list', status: 200 })
  })

  it('serves writes and refusals of v1', async () => {
    await fetch2(session, '/iam/v1/groups', { ':method': 'POST' }, '{"name":"new"}')
    expect(JSON.parse(v2.seen[0]?.body ?? '')).toMatchObject({ name: 'new' })
    expect(await fetch2(session, '/iam/v1/groups', { ':method': 'POST' }, '{')).toMatchObject({
      status: 400,
      body: expect.stringContaining('"code":3'),
    })
    expect((await fetch2(session, '/iam/v1/nothing')).status).toBe(404)
  })

  it('passes native requests on complete', async () => {
    const answer = await fetch2(session, '/upload', { ':method': 'PUT', 'x-kept': '1', te: 'trailers' }, Buffer.alloc(3_000_000, 'y'))
    expect(answer).toMatchObject({ status: 200, body: 'PUT yyyyyyyyyy', headers: { 'set-cookie': ['a=1', 'b=2'], 'x-bytes': '3000000' } })
    expect(answer.headers).not.toHaveProperty('x-hop')
    expect(v2.seen[0]?.headers).toMatchObject({ 'x-kept': '1', 'transfer-encoding': 'chunked' })
    expect(Object.keys(v2.seen[0]?.headers ?? {}).filter((name) => name.startsWith(':') || name === 'te')).toEqual([])
  })

  it.each(['GET', 'POST', 'PATCH'])('frames the body of a %s without a length', async (method) => {
    expect((await fetch2(session, '/x', { ':method': method }, 'twelve bytes')).headers['x-bytes']).toBe('12')
  })

  it('requires a length for the body of a DELETE', async () => {
    expect((await fetch2(session, '/x', { ':method': 'DELETE' }, 'abc')).status).toBe(411)
    expect((await fetch2(session, '/x', { ':method': 'DELETE', 'content-length': 3 }, 'abc')).headers['x-bytes']).toBe('3')
    expect((await fetch2(session, '/x', { ':method': 'DELETE' })).status).toBe(200)
    expect(v2.seen).toHaveLength(2)
  })

  it('breaks off what v2 breaks off', async () => {
    await expect(fetch2(session, '/cut')).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
  })

  it('breaks off a v1 list that cannot be completed', async () => {
    await expect(fetch2(session, '/iam/v1/groups?name=long')).rejects.toThrow('NGHTTP2')
  })

  it('cancels what the client cancels', async () => {
    const arrived = once(v2.server, 'request')
    const stream = session.request({ ':path': '/hang' })
    stream.on('error', () => {})
    const [request] = await arrived
    const closed = once(request.socket, 'close')
    stream.close(8)
    await closed
    expect(await proxy.logged(({ path }) => path === '/hang')).toMatchObject({ status: 499 })
  })

  it('cancels the requests of a client that is gone', async () => {
    const gone = await connect2(proxy.url, way === 'TLS' ? ca : undefined)
    const arrived = once(v2.server, 'request')
    gone.request({ ':path': '/hang' }).on('error', () => {})
    const [request] = await arrived
    const closed = once(request.socket, 'close')
    gone.destroy()
    await closed
  })

  it.each(['*', '/iam/v1/%zz', '/%zz'])('answers the odd target %s', async (target) => {
    const answer = await fetch2(session, target, { ':method': 'OPTIONS' })
    expect([200, 400]).toContain(answer.status)
  })

  it('works beside HTTP/1.1, even with an offer of h2c', async () => {
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AA' }
    for (const extra of [{}, headers]) expect(JSON.parse(await fetch1(`${proxy.url}/iam/v1/groups`, extra)).items).toHaveLength(1)
  })

  it('works beside WebSockets', async () => {
    const socket = new WebSocket(`${proxy.url.replace('http', 'ws')}/socket`, { ca })
    const answer = once(socket, 'message')
    await once(socket, 'open')
    socket.send('hello')
    expect(String((await answer)[0])).toBe('hello!')
    socket.close()
    await once(socket, 'close')
  })
})

describe('a shutdown', () => {
  it('does not wait for idle HTTP/2 connections', async () => {
    const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.shutdownMs': 60_000 })
    const session = await connect2(proxy.url)
    const closed = once(session, 'close')
    await fetch2(session, '/x')
    await proxy.close()
    await closed
  })

  it('waits for a request in flight and tells its connection to leave at once', async () => {
    const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.shutdownMs': 60_000 })
    const session = await connect2(proxy.url)
    const arrived = once(v2.server, 'request')
    const answer = fetch2(session, '/slow')
    await arrived
    const told = once(session, 'goaway')
    const closed = proxy.close()
    await told
    release()
    expect((await answer).status).toBe(200)
    await closed
  })

  it('cuts off silent connections in the end', async () => {
    const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.shutdownMs': 50 })
    const silent = net.connect(Number(new URL(proxy.url).port), '127.0.0.1')
    await once(silent, 'connect')
    const gone = once(silent, 'close')
    await proxy.close()
    await gone
  })
})
