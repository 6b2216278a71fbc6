import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../../src/sandbox/start.ts'
import { running, START } from '../running.ts'

const { sandbox, call, get, post } = running({}, { fresh: true })

const fault = (body: object) => call('POST', '/-/faults', { body, token: null })
const journal = async () => (await call('GET', '/-/journal', { token: null })).json

describe('the journal', () => {
  test('shows every request in order, without credentials and control requests', async () => {
    await get('/registry/v2/repos?page_size=2&uidp.ids=a&uidp.ids=b')
    await post('/iam/v2/groups/%2F', { name: 'x' })
    await call('PATCH', '/nowhere', { text: 'plain', token: null })
    await call('GET', '/-/journal')
    const at = new Date(START).toISOString()
    expect(await journal()).toEqual([
      { method: 'GET', path: '/registry/v2/repos', query: { page_size: '2', 'uidp.ids': ['a', 'b'] }, body: null, at },
      { method: 'POST', path: '/iam/v2/groups//', query: {}, body: { name: 'x' }, at },
      { method: 'PATCH', path: '/nowhere', query: {}, body: 'plain', at },
    ])
    expect(JSON.stringify(await journal())).not.toContain('demo-owner')
  })

  test('is cleared by DELETE', async () => {
    await get('/ping/v2/ping')
    await call('DELETE', '/-/journal')
    expect(await journal()).toEqual([])
  })
})

describe('faults', () => {
  test('return a status for the given number of matching requests', async () => {
    await fault({ match: 'GET /registry/v2/repos', times: 2, status: 503, headers: { 'retry-after': '1' } })
    expect((await get('/registry/v2/tags')).status).toBe(200)
    for (const path of ['/registry/v2/repos', '/registry/v2/repos?page_size=1']) {
      const reply = await get(path)
      expect([reply.status, reply.json.code, reply.headers.get('retry-after')]).toEqual([503, 14, '1'])
    }
    expect((await get('/registry/v2/repos')).status).toBe(200)
  })

  test('without times last until they are cleared', async () => {
    await fault({ match: 'GET /ping', status: 500 })
    for (let round = 0; round < 3; round++) expect((await get('/ping/v2/ping')).status).toBe(500)
    await call('DELETE', '/-/faults')
    expect((await get('/ping/v2/ping')).status).toBe(200)
  })

  test('are listed with what is left of them', async () => {
    await fault({ match: 'GET /registry/v2/repos', times: 2, status: 503 })
    await fault({ match: 'GET /ping', delayMs: 1 })
    await get('/registry/v2/repos')
    expect((await call('GET', '/-/faults', { token: null })).json).toEqual([
      { match: 'GET /registry/v2/repos', times: 1, status: 503 },
      { match: 'GET /ping', delayMs: 1 },
    ])
    await call('DELETE', '/-/faults')
    expect((await call('GET', '/-/faults', { token: null })).json).toEqual([])
  })

  test('return a body that is not JSON', async () => {
    await fault({ match: 'GET /ping', times: 1, body: '<html>', headers: { 'content-type': 'text/html' } })
    const response = await fetch(`${sandbox().url}/ping/v2/ping`)
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([200, '<html>', 'text/html'])
  })

  test('reset a connection', async () => {
    await fault({ match: 'GET /ping', times: 1, reset: true })
    await expect(get('/ping/v2/ping')).rejects.toThrow('fetch failed')
    expect((await get('/ping/v2/ping')).status).toBe(200)
  })

  test('delay a request, then serve it, with headers on request', async () => {
    await fault({ match: 'GET /ping', times: 1, delayMs: 30, headers: { 'x-slow': 'yes' } })
    const before = performance.now()
    const reply = await get('/ping/v2/ping')
    expect(performance.now() - before).toBeGreaterThanOrEqual(25)
    expect([reply.status, reply.headers.get('x-slow')]).toEqual([200, 'yes'])
  })

  test('keep requests in the journal and change nothing', async () => {
    await fault({ match: 'POST /registry/v2/repos', times: 1, status: 503 })
    await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'ghost' })
    expect(await journal()).toHaveLength(1)
    expect((await get('/registry/v2/repos?name=ghost')).json.repos).toEqual([])
  })

  test('remove a member or a row from one answer or from every row', async () => {
    const before = (await get('/registry/v2/repos?page_size=3')).json.repos
    await fault({ match: 'GET /registry/v2/repos', times: 1, drop: '/repos/1' })
    expect((await get('/registry/v2/repos?page_size=3')).json.repos).toEqual([before[0], before[2]])
    await fault({ match: 'GET /registry/v2/repos', times: 1, drop: '/repos/*/name' })
    for (const repo of (await get('/registry/v2/repos?page_size=3')).json.repos) expect(repo).not.toHaveProperty('name')
    expect((await get('/registry/v2/repos?page_size=3')).json.repos).toEqual(before)
  })

  test('replace a value, and do nothing where there is none', async () => {
    await fault({ match: 'GET /registry/v2/repos', times: 1, change: { at: '/repos/0/name', to: 5 } })
    expect((await get('/registry/v2/repos')).json.repos[0].name).toBe(5)
    await fault({ match: 'GET /ping', times: 1, change: { at: '/no/such', to: 5 } })
    expect((await get('/ping/v2/ping')).json).toEqual((await get('/ping/v2/ping')).json)
  })

  test('begin a list one row late and continue from there', async () => {
    const before = (await get('/registry/v2/repos?page_size=4')).json.repos
    await fault({ match: 'GET /registry/v2/repos', shift: 1 })
    const first = (await get('/registry/v2/repos?page_size=2')).json
    const second = (await get(`/registry/v2/repos?page_size=1&page_token=${first.nextPageToken}`)).json
    expect([...first.repos, ...second.repos]).toEqual(before.slice(1))
    await call('DELETE', '/-/faults')
  })

  test.each([
    [{ match: 'GET /', drop: 'name' }],
    [{ match: 'GET /' }],
    [{ status: 503 }],
    [{ match: 'GET /', status: 'x' }],
    [{ match: 'GET /', colour: 'red', status: 500 }],
  ])('reject %j', async (body) => {
    expect((await fault(body)).status).toBe(400)
  })
})

test('moves the clock forward', async () => {
  const reply = await call('POST', '/-/clock', { body: { advanceMs: 259_200_000 }, token: null })
  expect(reply.json).toEqual({ now: '2026-03-04T12:00:00.000Z' })
  expect((await call('POST', '/-/clock', { body: { advanceMs: -1 } })).status).toBe(400)
})

test('closes despite a running delay', async () => {
  const slow = await startSandbox({ port: 0, latencyMs: 600_000 })
  const pending = fetch(`${slow.url}/ping/v2/ping`).then(
    () => 'answered',
    () => 'cut off',
  )
  const received = async (): Promise<boolean> => (await (await fetch(`${slow.url}/-/journal`)).text()) !== '[]'
  while (!(await received()));
  await slow.close()
  expect(await pending).toBe('cut off')
})

describe('a page of another origin', () => {
  const post = (headers: Record<string, string>) =>
    fetch(`${sandbox().url}/-/faults`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', ...headers },
      body: '{"match":"GET /iam/v2/groups","status":503}',
    })

  test('may not steer the sandbox, and one of its own may', async () => {
    const refused = await post({ origin: 'http://evil.example' })
    expect([refused.status, await refused.json()]).toEqual([403, expect.objectContaining({ code: 7 })])
    expect((await call('GET', '/-/faults', { token: null })).json).toEqual([])
    expect((await post({ origin: new URL(sandbox().url).origin })).status).toBe(200)
    expect((await post({})).status).toBe(200)
  })
})
