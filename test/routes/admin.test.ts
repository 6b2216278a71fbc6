import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { answering, bearer, startProxy, startUpstream, type TestProxy, type Upstream } from './support.ts'

let v2: Upstream
let proxy: TestProxy

beforeAll(async () => {
  v2 = await startUpstream(answering({ groups: [], response: 'pong' }))
  proxy = await startProxy({ 'upstream.v2': v2.url })
})

afterAll(async () => {
  await proxy.close()
  await v2.close()
})

describe('the log', () => {
  it('has one line a request, without anything that carries a secret', async () => {
    await fetch(`${proxy.url}/iam/v1/groups?colour=red&token=hidden-1`, {
      headers: { ...bearer('hidden-2'), cookie: 'session=hidden-3', 'x-request-id': 'log-1' },
    })
    const line = await proxy.logged(({ reqId }) => reqId === 'log-1')
    expect(line).toMatchObject({
      method: 'GET',
      path: '/iam/v1/groups',
      operation: 'iam.groups.list',
      mode: 'v2',
      calls: 1,
      dropped: ['colour', 'token'],
      status: 200,
      caller: expect.stringMatching(/^[0-9a-f]{16}$/),
      ms: expect.any(Number),
    })
    expect(proxy.log.filter(({ reqId }) => reqId === 'log-1')).toHaveLength(1)
    expect(JSON.stringify(proxy.log)).not.toContain('hidden')
  })

  it('tells callers apart and names the same one alike', async () => {
    for (const [id, token] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
    ] as const) {
      await fetch(`${proxy.url}/iam/v1/groups`, { headers: { ...bearer(token), 'x-request-id': id } })
    }
    const [a1, a2, b1] = await Promise.all(['a1', 'a2', 'b1'].map((id) => proxy.logged(({ reqId }) => reqId === id)))
    expect(a1?.caller).toBe(a2?.caller)
    expect(a1?.caller).not.toBe(b1?.caller)
  })
})

describe('the admin port', () => {
  const get = async (path: string) => {
    const answer = await fetch(proxy.adminUrl + path)
    return { status: answer.status, text: await answer.text() }
  }

  it('is healthy, and ready while v2 answers its ping', async () => {
    expect((await get('/healthz')).status).toBe(200)
    expect((await get('/readyz')).status).toBe(200)
    expect(v2.seen.at(-1)?.url).toBe('/ping/v2/ping')
  })

  it('is not ready when v2 does not answer, and says why', async () => {
    const alone = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' })
    const answer = await fetch(`${alone.adminUrl}/readyz`)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 14, message: expect.stringMatching(/^the v2 service does not answer its ping: /) })
    await alone.close()
  })

  it('is not ready when the ping fails', async () => {
    const broken = await startUpstream(answering({}, 500))
    const other = await startProxy({ 'upstream.v2': broken.url })
    expect((await fetch(`${other.adminUrl}/readyz`)).status).toBe(503)
    await other.close()
    await broken.close()
  })

  it('counts requests, calls, dropped parameters and connections by operation', async () => {
    await fetch(`${proxy.url}/iam/v1/groups?size=big`, { headers: { 'x-request-id': 'counted' } })
    await proxy.logged(({ reqId }) => reqId === 'counted')
    await fetch(`${proxy.url}/elsewhere`)
    await proxy.logged(({ path }) => path === '/elsewhere')
    const { text } = await get('/metrics')
    expect(text).toMatch(/crosswalk_requests_total\{operation="iam\.groups\.list",mode="v2",outcome="ok"\} \d+/)
    expect(text).toMatch(/crosswalk_requests_total\{operation="native",mode="native",outcome="ok"\} 1/)
    expect(text).toMatch(/crosswalk_v2_calls_total\{operation="iam\.groups\.list"\} \d+/)
    expect(text).toMatch(/crosswalk_unknown_parameters_total\{operation="iam\.groups\.list"\} [1-9]/)
    expect(text).toMatch(/crosswalk_request_duration_seconds_count\{operation="iam\.groups\.list"\} \d+/)
    expect(text).toContain('crosswalk_requests_in_flight 0')
    expect(text).toMatch(/crosswalk_pool\{origin="http:\/\/127\.0\.0\.1:\d+",state="connected"\} \d+/)
  })

  it('lists every operation', async () => {
    const rows = JSON.parse((await get('/operations')).text)
    expect(rows).toHaveLength(mappings.flatMap(({ operations }) => operations).length)
    expect(rows[0]).toMatchObject({ id: 'iam.groups.list', method: 'GET', path: '/iam/v1/groups', kind: 'direct' })
  })

  it('answers 404 in the common shape to the rest', async () => {
    for (const path of ['/nothing', '/%zz']) {
      expect(await get(path)).toEqual({ status: 404, text: '{"code":5,"message":"Not Found","details":[]}' })
    }
  })
})
