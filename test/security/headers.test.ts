import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { rawExchange } from '../stage/raw-exchange.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

let v2: Upstream
let proxy: TestProxy

beforeAll(async () => {
  v2 = await startUpstream((_, response) => {
    response.setHeader('x-internal', 'secret')
    response.end('{"groups":[]}')
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

it.each(['a b', 'a\tb', 'é', '', 'x'.repeat(129)])('replaces a request id that could harm a log: %j', async (id) => {
  const answer = await rawExchange(proxy.url, `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-request-id: ${id}\r\n\r\n`)
  expect(answer).toMatch(/\r\nx-request-id: [\w-]{12}-\d+\r\n/)
  expect(v2.seen[0]?.headers['x-request-id']).toMatch(/^[\w-]{12}-\d+$/)
})

it('lets no value add a header of its own', async () => {
  const answer = await fetch(`${proxy.url}/iam/v1/groups?name=a%0d%0aX-Evil:%201`)
  expect(answer.headers.has('x-evil')).toBe(false)
  expect(v2.seen[0]?.headers).not.toHaveProperty('x-evil')
  expect(v2.seen[0]?.url).toBe('/iam/v2/groups?name=a%0D%0AX-Evil%3A%201&page_size=200')
})

it('gives a translated call only the headers that concern v2', async () => {
  await fetch(`${proxy.url}/iam/v1/groups`, {
    headers: {
      authorization: 'Bearer t',
      cookie: 'session=1',
      'x-forwarded-for': '10.0.0.1',
      'x-http-method-override': 'DELETE',
      traceparent: '00-a-b-01',
      'user-agent': 'test/1',
    },
  })
  const { host } = new URL(v2.url)
  expect(v2.seen[0]?.headers).toEqual({
    accept: 'application/json',
    authorization: 'Bearer t',
    'cdn-loop': expect.stringMatching(/^crosswalk-[\w-]{12}$/),
    connection: 'keep-alive',
    host,
    traceparent: '00-a-b-01',
    'user-agent': 'test/1',
    'x-request-id': expect.any(String),
  })
})

it('drops the headers of v2 from a translated answer', async () => {
  expect((await fetch(`${proxy.url}/iam/v1/groups`)).headers.has('x-internal')).toBe(false)
})

it('refuses two host headers', async () => {
  const seen = v2.seen.length
  for (const path of ['/iam/v1/groups', '/iam/v2/groups']) {
    const answer = await rawExchange(proxy.url, `GET ${path} HTTP/1.1\r\nhost: x\r\nHost: y\r\nconnection: close\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*the request has two host headers/s)
  }
  expect(v2.seen).toHaveLength(seen)
})
