import { afterEach, describe, expect, it } from 'vitest'
import { ALL_V2 } from '../../../src/migrate/modes/rules.ts'
import { type Stage, startStage } from '../../stage/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const REPOS = '/registry/v1/repos?limit=2'
const failing = { match: 'GET /registry/v2/', status: 503 }

describe('a read that v2 fails', () => {
  it.each(['v2', 'diff-v2'] as const)('is answered from v1 in mode %s, and counted', async (mode) => {
    stage = await startStage({ modes: { ...ALL_V2, default: mode } })
    const before = await stage.request('GET', REPOS)
    await stage.settled()
    await stage.fault(failing)
    const after = await stage.request('GET', REPOS)
    expect([after.status, after.body]).toEqual([200, before.body])
    await stage.settled()
    expect((await stage.evidence()).fallbacks).toEqual({ taken: 1, refused: 0 })
    expect(stage.server.log.filter(({ mode }) => mode === 'fallback')).toHaveLength(1)
  })

  it('is an error of v2 in the evidence, although the client saw none', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v2' } })
    await stage.fault(failing)
    expect((await stage.request('GET', REPOS)).status).toBe(200)
    await stage.settled()
    expect((await stage.evidence()).operations).toMatchObject([{ operation: 'registry.repos.list', errors: 1, n: 1 }])
  })

  it('by a timeout is answered from v1 too', async () => {
    stage = await startStage({ 'limits.callTimeoutMs': 1000 })
    await stage.fault({ match: 'GET /registry/v2/', delayMs: 60_000 })
    expect((await stage.request('GET', REPOS)).status).toBe(200)
    expect((await stage.evidence()).fallbacks.taken).toBe(1)
  })

  it("by refusing it is not answered from v1: the client gets v2's answer", async () => {
    stage = await startStage()
    await stage.fault({ match: 'GET /registry/v2/', status: 403 })
    expect((await stage.request('GET', REPOS)).status).toBe(403)
    expect((await stage.evidence()).fallbacks).toEqual({ taken: 0, refused: 0 })
  })

  it('is answered from v1 within the budget; then the client sees the failure', async () => {
    stage = await startStage({ 'fallback.perMinute': 2 })
    await stage.fault(failing)
    const statuses = []
    for (let nth = 0; nth < 4; nth += 1) statuses.push((await stage.request('GET', REPOS)).status)
    expect(statuses).toEqual([200, 200, 503, 503])
    expect((await stage.evidence()).fallbacks).toEqual({ taken: 2, refused: 2 })
  })

  it("and v1 fails too is answered with v2's error", async () => {
    stage = await startStage()
    await stage.fault({ match: 'GET /registry/v', status: 503 })
    const { status, body } = await stage.request('GET', REPOS)
    expect([status, body.message]).toEqual([503, 'fault injected: 503'])
  })

  it("is answered with v2's error if there is no v1", async () => {
    stage = await startStage({ 'upstream.v1': undefined })
    await stage.fault(failing)
    expect((await stage.request('GET', REPOS)).status).toBe(503)
  })

  it("is answered with v2's error if v1 would not know its page token", async () => {
    stage = await startStage({ emulated: 'v2' })
    await stage.fault(failing)
    expect((await stage.request('GET', '/registry/v1/eoltags?page_size=1')).status).toBe(503)
  })
})

it('a write that v2 fails is never answered from v1', async () => {
  stage = await startStage()
  await stage.fault({ match: 'POST /iam/v2/', status: 503 })
  const { status } = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'made' } })
  expect(status).toBe(503)
  expect((await stage.journal()).filter(({ path }) => path.startsWith('/iam/v1/'))).toEqual([])
})

describe('the circuit', () => {
  const canary = {
    ...ALL_V2,
    rules: [{ operations: 'registry.*', clients: '*', mode: 'v1' as const, canary: { percent: 100, mode: 'v2' as const } }],
  }
  const side = async (path: string) => {
    await stage.clearJournal()
    await stage.request('GET', path)
    return (await stage.journal())[0]?.path.split('/')[2]
  }

  it('opens when v2 fails too often: share 0 until a person changes the modes', async () => {
    stage = await startStage({ modes: canary })
    expect(await side(REPOS)).toBe('v2')
    await stage.fault(failing)
    for (let nth = 0; nth < 10; nth += 1) expect((await stage.request('GET', REPOS)).status).toBe(200)
    await stage.clearFaults()
    expect(await side(REPOS)).toBe('v1')
    expect(await side('/registry/v1/tags?limit=1')).toBe('v2')
    expect(stage.server.log.filter(({ msg }) => String(msg).includes('the circuit of registry.repos.list is open'))).toHaveLength(1)
    await stage.setModes(canary)
    expect(await side(REPOS)).toBe('v2')
  })

  it('opens when the answers of v2 differ', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v1' } })
    await stage.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/0/name', to: 'wrong' } })
    for (let nth = 0; nth < 3; nth += 1) await stage.request('GET', REPOS)
    await stage.settled()
    expect((await stage.evidence()).operations).toMatchObject([
      { circuit: { state: 'open', reason: expect.stringMatching(/^mismatches: /) } },
    ])
  })

  it('says INCONCLUSIVE while there is little traffic', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v1' } })
    await stage.request('GET', REPOS)
    await stage.settled()
    expect((await stage.evidence()).operations).toMatchObject([
      { circuit: { state: 'inconclusive', reason: expect.stringMatching(/^INCONCLUSIVE/) } },
    ])
  })
})
