import http from 'node:http'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../stage/proxy.ts'
import { rawExchange } from '../../stage/raw-exchange.ts'
import { until } from '../../stage/until.ts'
import { answering, startUpstream, type Upstream } from '../../stage/upstream.ts'

/** Pieces of an answer: more than all buffers between v1 and a client hold. */
const PIECES = 512
const PIECE = Buffer.alloc(64 * 1024, 'x')
let written = 0

function* pieces(): Generator<Buffer> {
  for (written = 0; written < PIECES; written += 1) yield PIECE
}

let v1: Upstream
let v2: Upstream
let proxy: TestProxy

beforeAll(async () => {
  v2 = await startUpstream(answering({ groups: [] }))
  v1 = await startUpstream((request, response) => {
    if (request.url?.includes('hang')) return
    if (request.url?.includes('busy')) {
      response.writeHead(503, { 'retry-after': '1', 'content-type': 'text/plain' })
      return void response.end('busy')
    }
    if (request.url?.includes('cut')) {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half')
      return void setImmediate(() => response.destroy())
    }
    if (request.url?.includes('odd')) {
      response.writeHead(999)
      return void response.write('it goes on')
    }
    if (request.url?.includes('large')) return void Readable.from(pieces()).pipe(response)
    response.writeHead(203, { 'content-type': 'text/html', 'x-v1': 'yes', 'x-request-id': 'of v1', connection: 'x-hop', 'x-hop': 'no' })
    response.end('<v1>')
  })
  proxy = await startProxy({ 'upstream.v2': v2.url, 'upstream.v1': `${v1.url}/base/` })
})

afterAll(async () => {
  await proxy.close()
  await v1.close()
  await v2.close()
})

beforeEach(() => {
  v1.seen.length = 0
})

describe('a v1-only operation', () => {
  it('is answered by v1 with unchanged headers and bytes', async () => {
    const answer = await fetch(`${proxy.url}/registry/v1/vuln_reports?repo=a%2Fb&x=%20+`, { headers: { authorization: 'Bearer t' } })
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('x-v1'), await answer.text()]).toEqual([
      203,
      'text/html',
      'yes',
      '<v1>',
    ])
    expect(answer.headers.has('x-hop')).toBe(false)
    expect(v1.seen[0]).toMatchObject({
      method: 'GET',
      url: '/base/registry/v1/vuln_reports?repo=a%2Fb&x=%20+',
      headers: { authorization: 'Bearer t', 'x-request-id': answer.headers.get('x-request-id'), host: new URL(v1.url).host },
    })
    expect(await proxy.logged(() => true)).toMatchObject({ mode: 'v1', operation: 'registry.vuln_reports.list', calls: 0, status: 203 })
  })

  it('carries a body untouched, number for number', async () => {
    const body = '{"n":12345678901234567890,"f":1.0,"d":1,"d":2}'
    await fetch(`${proxy.url}/registry/v1/repos/a:addChart`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    expect(v1.seen[0]).toMatchObject({ body, headers: { 'content-length': String(body.length), 'content-type': 'application/json' } })
  })

  it('carries a form on a GET route as the POST that it is', async () => {
    await fetch(`${proxy.url}/registry/v1/vuln_reports/counts`, { method: 'POST', body: new URLSearchParams({ repo: 'x' }) })
    expect(v1.seen[0]).toMatchObject({ method: 'POST', body: 'repo=x' })
  })

  it('arrives whole with chunks, an Expect and connection headers', async () => {
    const head = `POST /registry/v1/repos/a:addChart HTTP/1.1\r\nhost: x\r\nconnection: close, x-mine\r\nx-mine: 1\r\nkeep-alive: 1\r\nexpect: 100-continue\r\n`
    const answer = await rawExchange(proxy.url, `${head}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`)
    expect(answer).toContain('HTTP/1.1 203')
    expect(v1.seen[0]?.body).toBe('abc')
    for (const name of ['x-mine', 'keep-alive', 'expect']) expect(v1.seen[0]?.headers).not.toHaveProperty(name)
  })

  it('loses the body of a GET', async () => {
    const request = 'GET /registry/v1/vuln_reports HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 3\r\n\r\nabc'
    expect(await rawExchange(proxy.url, request)).toContain('HTTP/1.1 203')
    expect(v1.seen[0]).toMatchObject({ method: 'GET', body: '' })
  })
})

describe('a domain of v1 that v2 lacks', () => {
  it('is answered by v1, and the parts that v2 has by v2', async () => {
    await fetch(`${proxy.url}/argos/v1/osv/vulns/CVE-2026-1`)
    await fetch(`${proxy.url}/policies/v1/nothing-known`)
    await fetch(`${proxy.url}/sts/exchange`)
    expect(v1.seen.map(({ url }) => url)).toEqual(['/base/argos/v1/osv/vulns/CVE-2026-1', '/base/policies/v1/nothing-known'])
    expect(proxy.log.map(({ operation, mode }) => `${operation} ${mode}`).slice(-3)).toEqual([
      'argos.osv.get v1',
      'unknown v1',
      'native native',
    ])
  })

  it('needs a v1 service', async () => {
    const alone = await startProxy({ 'upstream.v2': v2.url })
    const answer = await fetch(`${alone.url}/auth/v1/ok`)
    await alone.close()
    const message =
      'auth.auth.validate needs a v1 service: v2 describes no tokens and removes no users; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on'
    expect([answer.status, await answer.json()]).toEqual([501, { code: 12, message, details: [] }])
  })
})

it('creates an identity of events at v1, and one of a group at v2', async () => {
  const body = '{ "subject": "s",  "issuer": "i" }'
  await fetch(`${proxy.url}/iam/v1/identities`, { method: 'POST', body })
  await fetch(`${proxy.url}/iam/v1/identities/`, { method: 'POST', body })
  expect(v1.seen.map(({ url, body }) => [url, body])).toEqual([
    ['/base/iam/v1/identities', body],
    ['/base/iam/v1/identities/', body],
  ])
  v1.seen.length = 0
  await fetch(`${proxy.url}/iam/v1/identities/${'0'.repeat(40)}`, { method: 'POST', body: '{"name":"x"}' })
  expect(v1.seen).toEqual([])
})

it('sends unknown paths and methods to v1 too', async () => {
  await fetch(`${proxy.url}/libraries/v1/nothing`)
  await fetch(`${proxy.url}/iam/v1/groups`, { method: 'OPTIONS' })
  expect(v1.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /base/libraries/v1/nothing', 'OPTIONS /base/iam/v1/groups'])
})

it('keeps from v1 what v2 can serve', async () => {
  expect((await fetch(`${proxy.url}/iam/v1/groups`)).status).toBe(200)
  expect(v1.seen).toEqual([])
})

it('passes a 503 of v1 on without a retry', async () => {
  const answer = await fetch(`${proxy.url}/registry/v1/vuln_reports?busy`)
  expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([503, '1', 'busy'])
  expect(v1.seen).toHaveLength(1)
})

it('breaks off an answer that v1 breaks off', async () => {
  await expect((await fetch(`${proxy.url}/registry/v1/vuln_reports?cut`)).text()).rejects.toThrow()
})

it('answers 503 in v1’s form when v1 is down, 504 when it is silent', async () => {
  const down = await startProxy({ 'upstream.v2': v2.url, 'upstream.v1': 'http://127.0.0.1:1' })
  const refused = await fetch(`${down.url}/registry/v1/vuln_reports`)
  expect([refused.status, await refused.json()]).toEqual([503, { code: 14, message: 'the v1 service cannot be reached', details: [] }])
  await down.close()
  const silent = await startProxy({ 'upstream.v2': v2.url, 'upstream.v1': v1.url, 'limits.deadlineMs': 100 })
  const late = await fetch(`${silent.url}/registry/v1/vuln_reports?hang`)
  expect([late.status, await late.json()]).toEqual([504, { code: 4, message: 'the v1 service did not answer in time', details: [] }])
  await silent.close()
})

it('answers 500 where no client can be given the answer, and breaks it off', async () => {
  const arrived = new Promise<http.IncomingMessage>((resolve) => v1.server.once('request', resolve))
  const asked = fetch(`${proxy.url}/registry/v1/vuln_reports?odd`)
  const { socket } = await arrived
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const answer = await asked
  expect([answer.status, await answer.json()]).toMatchObject([
    500,
    { code: 13, message: 'the v1 service sent an answer that cannot be passed on' },
  ])
  await closed
})

it('reads from v1 at the pace of the client', async () => {
  const slow = await new Promise<http.IncomingMessage>((resolve) => http.get(`${proxy.url}/registry/v1/vuln_reports?large`, resolve))
  slow.pause()
  let before = -1
  await until(async () => {
    const isStill = written === before
    before = written
    return isStill
  }, 'v1 waits')
  expect(before).toBeLessThan(PIECES)
  let length = 0
  for await (const piece of slow) length += piece.length
  expect(length).toBe(PIECES * PIECE.length)
})

it('ends the call to v1 when the client goes away', async () => {
  const arrived = new Promise<http.IncomingMessage>((resolve) => v1.server.once('request', resolve))
  const request = http.get(`${proxy.url}/registry/v1/vuln_reports?hang`)
  request.on('error', () => {})
  const upstreamRequest = await arrived
  const closed = new Promise((resolve) => upstreamRequest.socket.once('close', resolve))
  request.destroy()
  await closed
  expect(await proxy.logged(({ status }) => status === 499)).toMatchObject({ mode: 'v1' })
})
