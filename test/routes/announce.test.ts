import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Config } from '../../src/app/config/settings.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { rawExchange } from '../stage/raw-exchange.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

const MARCH = Date.UTC(2027, 2, 1) / 1000
const ANNOUNCED: Partial<Config> = {
  'v1.deprecation': MARCH,
  'v1.sunset': MARCH + 86_400,
  'v1.successor': 'https://docs.example.com/v2',
}
const EXPECTED = {
  deprecation: '@1803859200',
  sunset: 'Tue, 02 Mar 2027 00:00:00 GMT',
  link: '<https://docs.example.com/v2>; rel="successor-version"',
}

let upstream: Upstream
let proxy: TestProxy

beforeEach(async () => {
  upstream = await startUpstream((request, response) => {
    if (request.url?.startsWith('/registry/v1')) response.setHeader('link', '</next>; rel="next"').setHeader('sunset', 'theirs')
    response.end('{"groups":[]}')
  })
})

afterEach(async () => {
  await proxy.close()
  await upstream.close()
})

const start = async (values: Partial<Config>) => {
  proxy = await startProxy({ 'upstream.v2': upstream.url, 'upstream.v1': upstream.url, ...values })
}

const announced = async (path: string, init?: RequestInit) => {
  const { headers } = await fetch(proxy.url + path, init)
  const names = Object.keys(EXPECTED).filter((name) => headers.has(name))
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]))
}

it('announces nothing by default, as v1 did', async () => {
  await start({})
  expect(await announced('/iam/v1/groups')).toEqual({})
})

it('announces the end of v1 and its successor in answers and errors', async () => {
  await start(ANNOUNCED)
  for (const path of ['/iam/v1/groups', '/iam/v1/groups?page_size=x']) expect(await announced(path)).toEqual(EXPECTED)
  expect(await announced('/iam/v1/groups', { method: 'POST', body: '{' })).toEqual(EXPECTED)
})

it('keeps the links in answers of the v1 service', async () => {
  await start(ANNOUNCED)
  expect(await announced('/registry/v1/vuln_reports')).toEqual({ ...EXPECTED, link: `</next>; rel="next", ${EXPECTED.link}` })
})

it('also announces for a path that cannot be decoded', async () => {
  await start(ANNOUNCED)
  const answer = await rawExchange(proxy.url, 'GET /iam/v1/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*\r\ndeprecation: @1803859200\r\n/s)
})

it('leaves native answers unchanged', async () => {
  await start(ANNOUNCED)
  expect(await announced('/iam/v2/groups')).toEqual({})
})

it('can announce each by itself', async () => {
  await start({ 'v1.sunset': MARCH })
  expect(await announced('/iam/v1/groups')).toEqual({ sunset: 'Mon, 01 Mar 2027 00:00:00 GMT' })
})
