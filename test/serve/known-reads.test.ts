import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createKnownReads, type KnownRead } from '../../src/serve/core.ts'
import { bearer, startProxy, type TestProxy } from '../stage/proxy.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

const read = {} as KnownRead

it('identifies a URL by its method and text', () => {
  const reads = createKnownReads()
  reads.keep({ method: 'GET', url: '/a' }, read)
  reads.keep({ method: 'POST', url: '/b' }, read)
  const found = [
    { method: 'GET', url: '/a' },
    { method: 'POST', url: '/a' },
    { method: 'GET', url: '/b' },
    { method: 'GET', url: '/a?' },
  ].map((request) => reads.find(request))
  expect(found).toEqual([read, undefined, undefined, undefined])
})

it('caches neither very long URLs nor very many', () => {
  const reads = createKnownReads()
  reads.keep({ method: 'GET', url: `/${'a'.repeat(2000)}` }, read)
  expect(reads.find({ method: 'GET', url: `/${'a'.repeat(2000)}` })).toBeUndefined()
  for (let at = 0; at < 2000; at += 1) reads.keep({ method: 'GET', url: `/${at}` }, read)
  expect([0, 1999].map((at) => reads.find({ method: 'GET', url: `/${at}` }))).toEqual([undefined, read])
})

let v2: Upstream
let proxy: TestProxy

beforeAll(async () => {
  v2 = await startUpstream(({ headers }, response) => {
    if (headers.authorization === 'Bearer b') response.statusCode = 403
    const answer = { uid: '4d2e'.repeat(10), name: String(headers.authorization) }
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'PERMISSION_DENIED' }]
    response.end(JSON.stringify(response.statusCode === 403 ? { code: 7, message: 'no', details } : answer))
  })
  proxy = await startProxy({ 'upstream.v2': v2.url })
})

beforeEach(() => {
  v2.seen.length = 0
})

afterAll(async () => {
  await proxy.close()
  await v2.close()
})

it('asks v2 anew for each caller and each request of a known URL', async () => {
  const ask = async (token: string) =>
    (await fetch(`${proxy.url}/iam/v1/groups?id=${'4d2e'.repeat(10)}`, { headers: bearer(token) })).text()
  const [first, second] = [await ask('a'), await ask('a')]
  expect(first).toContain('"name":"Bearer a"')
  expect(second).toBe(first)
  expect(await ask('b')).toBe('{"items":[]}')
  expect(await ask('c')).toContain('"name":"Bearer c"')
  expect(v2.seen).toHaveLength(4)
})

it('repeats a refusal, and keeps the methods of a URL apart', async () => {
  const ask = async (method: string) => {
    const answer = await fetch(`${proxy.url}/iam/v1/groups?page_size=x`, { method, headers: bearer('a') })
    return [answer.status, ((await answer.json()) as { code: number }).code]
  }
  expect([await ask('GET'), await ask('GET')]).toEqual([
    [400, 3],
    [400, 3],
  ])
  expect(await ask('PATCH')).toEqual([501, 12])
  expect(v2.seen).toHaveLength(0)
})
