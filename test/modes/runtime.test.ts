import { afterEach, describe, expect, it } from 'vitest'
import { ALL_V2, type ModeRules } from '../../src/migrate/modes/rules.ts'
import { bearer, startProxy } from '../stage/proxy.ts'
import { type Stage, startStage } from '../stage/stage.ts'
import { startUpstream } from '../stage/upstream.ts'

describe('the admin port', () => {
  let stage: Stage
  afterEach(() => stage.close())
  const put = async (body: string, type = 'application/json') => {
    const answer = await fetch(`${stage.server.adminUrl}/modes`, { method: 'PUT', body, headers: { 'content-type': type } })
    return { status: answer.status, body: (await answer.json()) as { message?: string } }
  }
  const served = async () => {
    await stage.clearJournal()
    await stage.request('GET', '/registry/v1/repos?limit=1')
    return (await stage.journal())[0]?.path.split('/')[2]
  }

  it('shows the modes and changes them for the next request', async () => {
    stage = await startStage()
    expect(await (await fetch(`${stage.server.adminUrl}/modes`)).json()).toEqual({
      ...ALL_V2,
      version: 1,
      changed: { at: expect.any(String), by: { source: 'start' } },
    })
    expect(await served()).toBe('v2')
    const rules: ModeRules = { default: 'v2', rules: [{ operations: 'registry.*', clients: '*', mode: 'v1' }], testers: [] }
    const changed = { at: expect.any(String), by: { source: 'admin', address: '127.0.0.1' } }
    expect(await put(JSON.stringify(rules))).toEqual({ status: 200, body: { ...rules, version: 2, changed } })
    const shown = await (await fetch(`${stage.server.adminUrl}/modes`)).json()
    expect(shown).toEqual({ ...rules, version: 2, changed })
    expect(await put(JSON.stringify(shown))).toMatchObject({ status: 200, body: { ...rules, version: 3 } })
    expect(await served()).toBe('v1')
  })

  it.each([
    ['{"default":"v3"}', 'The modes are wrong: default must be one of v1, v2, diff-v1, diff-v2.'],
    ['[]', 'The modes are wrong: must be an object {"default", "rules", "testers"}.'],
    ['{', "Body is not valid JSON but content-type is set to 'application/json'"],
  ])('refuses %s and keeps the modes', async (body, message) => {
    stage = await startStage()
    expect(await put(body)).toEqual({ status: 400, body: { code: 3, message, details: [] } })
    expect(await served()).toBe('v2')
  })

  it('refuses modes that need a v1 service if there is none', async () => {
    stage = await startStage({ 'upstream.v1': undefined })
    expect((await put('{"default":"diff-v1"}')).body.message).toMatch(/^The modes need a v1 service: /)
  })

  it('shows as many comparisons of an operation as requested', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v1' } })
    await stage.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/0/name', to: 'wrong' } })
    await stage.request('GET', '/registry/v1/repos')
    await stage.request('GET', '/registry/v1/repos?limit=5')
    await stage.settled()
    const comparisons = async (query: string) => (await fetch(`${stage.server.adminUrl}/comparisons?${query}`)).json()
    const shown = (await comparisons('operation=registry.repos.list')) as { shape: string }[]
    // Both are compared at once, and either may be the first to end.
    expect(shown.toSorted((one, other) => one.shape.length - other.shape.length)).toMatchObject([
      { outcome: 'mismatch', shape: 'registry.repos.list' },
      { outcome: 'mismatch', shape: 'registry.repos.list?limit=small', totals: [{ kind: 'value', where: '/items/*/name', count: 1 }] },
    ])
    expect(await comparisons('limit=1')).toHaveLength(1)
    expect(await comparisons('operation=iam.groups.list')).toEqual([])
    expect(await comparisons('limit=0')).toMatchObject({ code: 3, message: expect.stringContaining('limit: ') })
  })
})

describe('a tester', () => {
  let stage: Stage
  afterEach(() => stage.close())

  it('chooses the mode of a request, and other callers cannot', async () => {
    stage = await startStage()
    await stage.request('GET', '/iam/v1/groups')
    const [{ caller }] = (await (await fetch(`${stage.server.adminUrl}/clients`)).json()) as [{ caller: string }]
    await stage.setModes({ testers: [caller] })
    const side = async (token: string, mode: string) => {
      await stage.clearJournal()
      const { status } = await stage.request('GET', '/iam/v1/groups', { token, headers: { 'x-crosswalk-mode': mode } })
      return status === 200 ? (await stage.journal())[0]?.path.split('/')[2] : status
    }
    const { owner, viewer } = stage.sandbox.tokens
    expect([await side(owner, 'v1'), await side(viewer, 'v1'), await side(owner, 'v3'), await side(viewer, 'v3')]).toEqual([
      'v1',
      'v2',
      400,
      'v2',
    ])
  })
})

it('a change of modes does not affect requests under way', async () => {
  let answer = () => {}
  let tell = () => {}
  const arrived = new Promise<void>((resolve) => {
    tell = resolve
  })
  const v2 = await startUpstream((_, response) => {
    answer = () => void response.end('{"groups":[],"nextPageToken":""}')
    tell()
  })
  const v1 = await startUpstream((_, response) => void response.end('{"items":[],"from":"v1"}'))
  const proxy = await startProxy({ 'upstream.v1': v1.url, 'upstream.v2': v2.url })
  const get = async () => (await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer('t') })).json()
  const before = get()
  await arrived
  await fetch(`${proxy.adminUrl}/modes`, { method: 'PUT', body: '{"default":"v1"}', headers: { 'content-type': 'application/json' } })
  expect(await get()).toEqual({ items: [], from: 'v1' })
  answer()
  expect(await before).toEqual({ items: [] })
  await proxy.close()
  await Promise.all([v1.close(), v2.close()])
})
