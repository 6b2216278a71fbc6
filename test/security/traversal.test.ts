import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { rawExchange } from '../stage/raw-exchange.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

let upstream: Upstream
let translated: TestProxy
let passing: TestProxy

beforeAll(async () => {
  upstream = await startUpstream((_, response) => void response.end('{"groups":[]}'))
  translated = await startProxy({ 'upstream.v2': upstream.url })
  passing = await startProxy({ 'upstream.v2': upstream.url, 'upstream.v1': upstream.url })
})

afterAll(async () => {
  await translated.close()
  await passing.close()
  await upstream.close()
})

beforeEach(() => {
  upstream.seen.length = 0
})

const send = (proxy: TestProxy, method: string, path: string) =>
  rawExchange(proxy.url, `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)

const UIDS = ['..', 'a/../b', 'a%2F..%2Fb', '%2e%2e', 'a/./b', 'a//b', 'a%00b', 'a%0d%0ab', 'a%0A', '%2e%2e%2froles']

it.each(UIDS)('refuses a uid that a server could read as another path: %s', async (uid) => {
  expect(await send(translated, 'DELETE', `/iam/v1/groups/${uid}`)).toMatch(/^HTTP\/1\.1 (400|404) .*"details":/s)
  expect(upstream.seen).toEqual([])
})

it('encodes any other text as a uid', async () => {
  await send(translated, 'DELETE', '/iam/v1/groups/a%3Fb%23c%25%5Cd%252e')
  expect(upstream.seen.map(({ url }) => url)).toEqual(['/iam/v2/groups/a%3Fb%23c%25%5Cd%252e'])
})

it.each(['/registry/v1/vuln_reports/../../v2/x', '/registry/v1/%2e%2e/v2/x', '/registry/v1/vuln_reports\\..\\x', '/events/v1/./x'])(
  'keeps such a path from v1: %s',
  async (path) => {
    expect(await send(passing, 'GET', path)).toMatch(/^HTTP\/1\.1 400 .*"code":3,"message":"Invalid argument: path: must not contain/s)
    expect(upstream.seen).toEqual([])
  },
)

it.each(['http://other.example/iam/v1/groups', 'http://169.254.169.254/', '*'])(
  'lets no request target name a host: %s',
  async (target) => {
    expect(await send(translated, 'OPTIONS', target)).toMatch(/^HTTP\/1\.1 400 /)
    expect(upstream.seen).toEqual([])
  },
)

it('lets no Host header choose the upstream', async () => {
  await rawExchange(passing.url, 'GET /iam/v2/groups HTTP/1.1\r\nhost: other.example\r\nconnection: close\r\n\r\n')
  expect(upstream.seen[0]?.headers.host).toBe(new URL(upstream.url).host)
})
