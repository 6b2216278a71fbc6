import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, startProxy, type TestProxy } from '../stage/proxy.ts'

const settings = {
  'upstream.v2': 'http://127.0.0.1:1',
  'upstream.v1': 'http://127.0.0.1:1',
  'admin.tokens': [
    { name: 'alice', token: 'the-token-of-alice' },
    { name: 'bob', token: 'the-token-of-bob-1' },
  ],
}

let proxy: TestProxy
beforeAll(async () => {
  proxy = await startProxy(settings)
})
afterAll(() => proxy.close())

const ask = async (init: RequestInit & { readonly who?: string } = {}, { adminUrl } = proxy) => {
  const { who = 'the-token-of-alice', headers, ...rest } = init
  const answer = await fetch(`${adminUrl}/modes`, {
    ...rest,
    headers: { 'content-type': 'application/json', ...bearer(who), ...headers },
  })
  const body = (await answer.json()) as { version: number; changed: { at: string; by: object }; message?: string; code?: number }
  return { status: answer.status, etag: answer.headers.get('etag') ?? '', body }
}
const put = (mode: string, ifMatch?: string, who?: string) =>
  ask({
    method: 'PUT',
    body: JSON.stringify({ default: mode }),
    ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
    ...(who !== undefined && { who }),
  })

describe('a change of modes', () => {
  it('has a version, a tag and the name of the token that made it', async () => {
    const before = await ask()
    const changed = await put('v1', before.etag, 'the-token-of-bob-1')
    expect(changed).toMatchObject({ status: 200, body: { version: before.body.version + 1 } })
    expect(changed.body.changed).toEqual({ at: expect.any(String), by: { source: 'admin', token: 'bob', address: '127.0.0.1' } })
    expect(changed.etag).not.toBe(before.etag)
    expect(await ask()).toEqual({ ...changed })
  })

  it('changes nothing if somebody else changed the modes before', async () => {
    const { etag } = await ask()
    const first = await put('diff-v1', etag)
    const second = await put('v2', etag, 'the-token-of-bob-1')
    expect(second).toMatchObject({ status: 412, etag: first.etag, body: { code: 9, details: [] } })
    expect(second.body.message).toBe(
      `the modes are at version ${first.body.version} since ${first.body.changed.at} (admin port, token alice, from 127.0.0.1); read them again`,
    )
    expect((await ask()).body).toEqual(first.body)
  })

  it.each(['*', '"other", %', undefined])('takes If-Match %j', async (header) => {
    const { etag } = await ask()
    expect((await put('v1', header?.replace('%', etag))).status).toBe(200)
  })

  it.each([
    ['"other"', 412],
    ['W/%', 412],
    ['%x', 400],
  ])('refuses If-Match %j with %i', async (header, status) => {
    const before = await ask()
    expect((await put('v2', header.replace('%', before.etag))).status).toBe(status)
    expect(await ask()).toEqual(before)
  })

  it('is made by one of 40 that bring the same tag', async () => {
    const { etag, body } = await ask()
    const ends = await Promise.all(Array.from({ length: 40 }, (_, nth) => put(nth % 2 === 0 ? 'v1' : 'diff-v2', etag)))
    expect(ends.map(({ status }) => status).filter((status) => status !== 412)).toEqual([200])
    expect((await ask()).body.version).toBe(body.version + 1)
  })

  it('has another tag than any of a process before', async () => {
    const other = await startProxy(settings)
    const tags = [(await ask({}, other)).etag, (await ask()).etag].map((tag) => tag.replace(/-\d+"$/, ''))
    await other.close()
    expect(new Set(tags).size).toBe(2)
  })
})
