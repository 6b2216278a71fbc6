import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
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

describe('the configuration file', () => {
  const FILE = 'crosswalk.json'
  const rulesOf = (mode: 'v1' | 'v2' | 'diff-v1') => ({ default: mode, rules: [], testers: [] })
  const withFile = async () => {
    const started = await startProxy({ ...settings, modes: rulesOf('diff-v1') }, { file: FILE })
    onTestFinished(started.close)
    const change = (mode: 'v1' | 'v2' | 'diff-v1') => ask({ method: 'PUT', body: JSON.stringify(rulesOf(mode)) }, started)
    const metric = async () =>
      (await (await fetch(`${started.adminUrl}/metrics`, { headers: bearer('the-token-of-alice') })).text())
        .split('\n')
        .find((line) => line.startsWith('crosswalk_modes_drift'))
    return { started, change, metric }
  }

  it('is named as long as other modes than its own are active', async () => {
    const { started, change, metric } = await withFile()
    expect((await ask({}, started)).body).toMatchObject({ changed: { by: { source: 'start', path: FILE } } })
    expect((await ask({}, started)).body).not.toHaveProperty('drift')
    expect(await metric()).toBe('crosswalk_modes_drift 0')
    const { body } = await change('v1')
    expect(body).toHaveProperty(
      'drift',
      'The configuration (crosswalk.json) says: everything else diff-v1. Other rules were put by admin port, token alice, from 127.0.0.1. A restart, or a change of the file, brings the former back.',
    )
    expect((await ask({}, started)).body).toEqual(body)
    expect(await metric()).toBe('crosswalk_modes_drift 1')
    expect((await change('diff-v1')).body).not.toHaveProperty('drift')
    expect(await metric()).toBe('crosswalk_modes_drift 0')
  })

  it('replaces what was put, and the note says so', async () => {
    const { started, change } = await withFile()
    await change('v1')
    started.changeModes(rulesOf('v2'), { source: 'file', path: FILE })
    expect((await ask({}, started)).body).not.toHaveProperty('drift')
    const { msg } = await started.logged(({ version }) => version === 3)
    expect(msg).toBe(
      'the modes changed: file crosswalk.json (it replaces what was put by admin port, token alice, from 127.0.0.1): default: v1 → v2',
    )
  })
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

  it('is a note that says from what to what, and by whom', async () => {
    await put('v1')
    const { body } = await ask({ method: 'PUT', body: '{"default":"v1","rules":[{"operations":"iam.*","mode":"diff-v1"}]}' })
    const { time: _, ...line } = await proxy.logged(({ version }) => version === body.version)
    expect(line).toEqual({
      level: 30,
      what: 'modes',
      by: { source: 'admin', token: 'alice', address: '127.0.0.1' },
      from: 'everything else v1',
      to: 'iam.* diff-v1; everything else v1',
      version: body.version,
      msg: 'the modes changed: admin port, token alice, from 127.0.0.1: iam.*: no rule → diff-v1; default: unchanged',
    })
  })

  it('has another tag than any of a process before', async () => {
    const other = await startProxy(settings)
    const tags = [(await ask({}, other)).etag, (await ask()).etag].map((tag) => tag.replace(/-\d+"$/, ''))
    await other.close()
    expect(new Set(tags).size).toBe(2)
  })
})
