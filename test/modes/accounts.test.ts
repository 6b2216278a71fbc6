import { afterEach, describe, expect, it } from 'vitest'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import { runCommand } from '../cli/support.ts'
import { type Stage, startStage } from '../stage/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const KINDS = ['', '?limit=5', '?limit=500', '?limit=0', '?offset=1', '?order_by=name', '?id=x'].map((query) => `/iam/v1/groups${query}`)

async function ask(paths: readonly string[], token?: string): Promise<void> {
  for (const path of paths) await stage.request('GET', path, token === undefined ? {} : { token })
  await stage.settled()
}

async function cutover(...more: string[]): Promise<{ readonly code: number; readonly out: string }> {
  return runCommand(['cutover', '--admin', stage.server.adminUrl, '--target', '0.5', ...more])
}

const groups = async () => (await stage.evidence()).operations.find(({ operation }) => operation === 'iam.groups.list')

/** What v2 does to every read once READY was reached, and the fault of the sandbox that makes it. */
const WAYS: Readonly<Record<string, object>> = {
  ...Object.fromEntries([400, 401, 403, 404, 409, 429, 499, 500, 501, 502, 503, 504].map((status) => [`answers ${status}`, { status }])),
  'changes a value': { change: { at: '/groups/0/name', to: 'wrong' } },
}

describe.each(['diff-v1', 'diff-v2'] as const)('in mode %s, cutover stops saying READY', (mode) => {
  it.each(Object.entries(WAYS))('when v2 %s', async (_, fault) => {
    stage = await startStage({ modes: { ...ALL_V2, default: mode }, 'fallback.perMinute': 0, 'diff.perSecond': 0 })
    await ask(KINDS)
    expect(await cutover()).toMatchObject({ code: 0 })
    await stage.fault({ match: 'GET /iam/v2/groups', times: 1000, ...fault })
    await ask([...KINDS, ...KINDS])
    const { n = 0, bad = 0, repeats } = (await groups()) ?? {}
    expect(n + (repeats?.n ?? 0)).toBe(3 * KINDS.length)
    expect(bad + (repeats?.bad ?? 0)).toBeGreaterThan(KINDS.length)
    expect((await cutover('--without-v1')).code).toBe(1)
  })

  it('when the tables refuse what v1 accepts', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: mode }, 'diff.perSecond': 0 })
    await ask(KINDS)
    await ask(Array.from({ length: 20 }, () => '/iam/v1/groups?name=caf%E9'))
    expect(await groups()).toMatchObject({ n: 8, bad: 1, repeats: { n: 19, bad: 19 } })
    expect((await cutover()).code).toBe(1)
  })
})

describe('in mode diff-v2', () => {
  it('a caller whom v2 never accepted counts once v1 accepts it', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v2' } })
    await stage.fault({ match: 'GET /iam/v2/groups', times: 1000, status: 401 })
    await ask(KINDS)
    expect(await groups()).toMatchObject({ n: 7, bad: 7, mismatches: 7 })
  })

  it('a caller whom neither side accepts counts nowhere', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v2' } })
    await ask(KINDS, 'junk')
    expect((await stage.evidence()).operations).toEqual([])
  })

  it.each([401, 429])('a canary whose callers get %i from v2 turns back', async (status) => {
    const rule = { operations: 'iam.*', clients: '*', mode: 'diff-v1', canary: { percent: 100, mode: 'diff-v2' } } as const
    stage = await startStage({ modes: { ...ALL_V2, default: 'v1', rules: [rule] }, 'diff.perSecond': 0 })
    await ask(KINDS)
    await stage.fault({ match: 'GET /iam/v2/groups', times: 1000, status })
    await ask([...KINDS, ...KINDS])
    expect((await stage.evidence()).circuits['iam.groups.list']?.state).toBe('open')
    expect((await stage.request('GET', '/iam/v1/groups')).status).toBe(200)
  })
})
