import { once } from 'node:events'
import net from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { Config } from '../../src/app/config/settings.ts'
import { parseJson } from '../../src/tables/json.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { rawExchange } from '../stage/raw-exchange.ts'
import { answering, startUpstream } from '../stage/upstream.ts'

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

type Handler = Parameters<typeof startUpstream>[0]

async function setUp(values: Partial<Config>, handle: Handler = answering({ groups: [] })): Promise<TestProxy> {
  const v2 = await startUpstream(handle)
  const proxy = await startProxy({ 'upstream.v2': v2.url, ...values })
  open.push(proxy, v2)
  return proxy
}

const GROUPS = '/iam/v1/groups'
const uids = (page: number) => Array.from({ length: 10 }, (_, at) => ({ uid: `${page}${at}`.padStart(40, '0') }))

/** An endless list with ten rows a page. */
const endless: Handler = (request, response) => {
  const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page_token') ?? '1')
  answering({ groups: uids(at), nextPageToken: String(at + 1) })(request, response, '')
}

const post = (size: number): RequestInit => ({ method: 'POST', body: `{"name":"${'x'.repeat(size)}"}` })
const large: Handler = answering({ groups: [{ uid: 'a'.repeat(40), description: 'x'.repeat(2000) }] })
const silent: Handler = () => {}

it.each<[setting: keyof Config, value: number, status: number, handle: Handler | undefined, init?: RequestInit]>([
  ['limits.requestBytes', 100, 400, undefined, post(100)],
  ['limits.answerBytes', 1000, 500, large],
  ['limits.rowsPerRequest', 25, 400, endless],
  ['limits.callsPerRequest', 3, 400, endless],
  ['limits.deadlineMs', 50, 504, silent],
  ['limits.headerBytes', 1024, 431, undefined, { headers: { 'x-large': 'x'.repeat(1100) } }],
])('enforces %s = %d: %d, and the error names it', async (setting, value, status, handle, init) => {
  const proxy = await setUp({ [setting]: value }, handle)
  const answer = await fetch(proxy.url + GROUPS, init)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json'])
  const body = await answer.json()
  expect(body).toEqual({ code: expect.any(Number), message: expect.stringContaining(`${setting} (${value})`), details: [] })
})

it('breaks the connection if a list becomes too long after its first byte', async () => {
  const proxy = await setUp({ 'limits.rowsPerRequest': 50, 'limits.bufferedRows': 20 }, endless)
  const answer = await fetch(proxy.url + GROUPS)
  await expect(answer.text()).rejects.toThrow()
  expect(await proxy.logged(() => true)).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('limits.rowsPerRequest') },
  })
})

it('cuts off slow headers with 408, and the error names the limit', async () => {
  const proxy = await setUp({ 'limits.headersTimeoutMs': 100 })
  const { hostname, port } = new URL(proxy.url)
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(`GET ${GROUPS} HTTP/1.1\r\nhost: x\r\nx-slow: `))
    const trickle = setInterval(() => socket.write('x'), 20)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
      clearInterval(trickle)
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
  expect(answer).toMatch(
    /^HTTP\/1\.1 408 .*"code":3,"message":"the request headers did not arrive within limits\.headersTimeoutMs \(100\)"/s,
  )
})

it.each(['/registry/v1/vuln_reports', '/iam/v2/groups'])('%s: ends the connection of a body that stops', async (path) => {
  const upstream = await startUpstream(silent)
  const proxy = await startProxy({ 'limits.idleTimeoutMs': 100, 'upstream.v1': upstream.url, 'upstream.v2': upstream.url })
  open.push(proxy, upstream)
  expect(await rawExchange(proxy.url, `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{`)).toBe('')
})

it('loses no header, however many there are', async () => {
  const seen: unknown[] = []
  const proxy = await setUp({}, (request, response) => {
    seen.push(request.headers.authorization)
    response.end('{}')
  })
  const lines = 'a: b\r\n'.repeat(2100)
  await rawExchange(proxy.url, `GET ${GROUPS} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines}authorization: last\r\n\r\n`)
  expect(seen).toEqual(['last'])
})

it('logs at most twenty unknown parameters in a line', async () => {
  const proxy = await setUp({})
  const names = Array.from({ length: 1000 }, (_, at) => `unknown_${at}`)
  expect((await fetch(`${proxy.url}${GROUPS}?${names.join('&')}`)).status).toBe(200)
  expect((await proxy.logged(() => true)).dropped).toEqual(Array(20).fill('(no name)'))
})

it('refuses an impossible expectation in v1’s form', async () => {
  const proxy = await setUp({})
  const answer = await rawExchange(proxy.url, `POST ${GROUPS} HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\ncontent-length: 2\r\n\r\n{}`)
  expect(answer).toMatch(/^HTTP\/1\.1 417 .*\{"code":3,"message":"the expect header can only be 100-continue","details":\[\]\}$/s)
})

it('refuses a body that is nested more than 100 levels deep', () => {
  const nested = (depth: number, inside = '') => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`
  expect(() => parseJson(nested(100))).not.toThrow()
  expect(() => parseJson(nested(100, '"[[\\"[["'))).not.toThrow()
  expect(() => parseJson(`[${`${nested(99)},`.repeat(50)}1]`)).not.toThrow()
  for (const deep of [nested(101), nested(101, '12345678901234567890'), '{"a":'.repeat(100_000), '['.repeat(1_000_000)]) {
    expect(() => parseJson(deep)).toThrow('the request body is nested deeper than 100 levels')
  }
})

it('lets a WebSocket be silent for longer than a request', async () => {
  const upstream = await startUpstream(silent)
  const sockets = new WebSocketServer({ server: upstream.server })
  sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(message)))
  const proxy = await startProxy({ 'limits.idleTimeoutMs': 50, 'upstream.v2': upstream.url })
  open.push(proxy, upstream)
  const client = new WebSocket(`${proxy.url.replace('http', 'ws')}/events`)
  await once(client, 'open')
  // This connection falls silent later and is closed earlier.
  await rawExchange(proxy.url, 'POST /iam/v2/groups HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{')
  client.send('still here')
  const [echo] = await once(client, 'message')
  expect(String(echo)).toBe('still here')
  client.terminate()
})
