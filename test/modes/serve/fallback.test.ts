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
    expect((await stage.evidence()).fallbacks).toEqual({ taken: 1, refused: 0, walks: 0 })
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
    expect((await stage.evidence()).fallbacks).toEqual({ taken: 0, refused: 0, walks: 0 })
  })

  it('is answered from v1 within the budget; then the client sees the failure', async () => {
    stage = await startStage({ 'fallback.perMinute': 2 })
    await stage.fault(failing)
    const statuses = []
    for (let nth = 0; nth < 4; nth += 1) statuses.push((await stage.request('GET', REPOS)).status)
    expect(statuses).toEqual([200, 200, 503, 503])
    expect((await stage.evidence()).fallbacks).toEqual({ taken: 2, refused: 2, walks: 0 })
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
})

describe('a list read by page token that v2 fails', () => {
  const TAGS = '/registry/v1/eoltags?page_size=5'
  const ARTIFACTS = '/libraries/v1/artifacts?page_size=2'
  const idsOf = ({ body }: { readonly body: { readonly items: readonly { readonly id: string }[] } }) => body.items.map(({ id }) => id)
  const page = (path: string, token: string) => stage.request('GET', `${path}&page_token=${encodeURIComponent(token)}`)
  const fallbacks = async () => (await stage.evidence()).fallbacks
  /** The sides that were asked since the journal was cleared. */
  const asked = async () => new Set((await stage.journal()).map(({ path }) => path.split('/')[2]))

  it.each(['v2', 'diff-v2'] as const)('is begun by v1 in mode %s, and stays there when v2 is back', async (mode) => {
    stage = await startStage({ emulated: 'v2', modes: { ...ALL_V2, default: mode } })
    const whole = idsOf(await stage.request('GET', '/registry/v1/eoltags?page_size=100'))
    await stage.settled()
    await stage.fault(failing)
    const first = await stage.request('GET', TAGS)
    expect([first.status, idsOf(first)]).toEqual([200, whole.slice(0, 5)])
    await stage.clearFaults()
    await stage.clearJournal()
    const second = await page(TAGS, first.body.next_page_token)
    const third = await page(TAGS, second.body.next_page_token)
    expect([second, third].map(idsOf)).toEqual([whole.slice(5, 10), whole.slice(10, 15)])
    expect(await asked()).toEqual(new Set(['v1']))
    expect(await fallbacks()).toEqual({ taken: 1, refused: 0, walks: 0 })
  })

  it("ends with v2's error if v2 began it, and is counted", async () => {
    stage = await startStage({ emulated: 'v2' })
    const first = await stage.request('GET', TAGS)
    await stage.settled()
    await stage.fault(failing)
    await stage.clearJournal()
    expect(await page(TAGS, first.body.next_page_token)).toMatchObject({ status: 503, body: { message: 'fault injected: 503' } })
    expect(await asked()).toEqual(new Set(['v2']))
    expect(await fallbacks()).toEqual({ taken: 0, refused: 0, walks: 1 })
    const metrics = await (await fetch(`${stage.server.adminUrl}/metrics`)).text()
    expect(metrics).toContain('crosswalk_fallbacks_total{answered="list"} 1')
  })

  it('moves no other list of the caller that v2 has begun', async () => {
    stage = await startStage({ emulated: 'v2' })
    const mine = `${ARTIFACTS}&ecosystems=JAVA`
    const first = await stage.request('GET', mine)
    await stage.settled()
    await stage.fault({ match: 'GET /libraries/v2/', status: 503 })
    const other = `${ARTIFACTS}&ecosystems=PYTHON`
    const begun = await stage.request('GET', other)
    await stage.settled()
    await stage.clearFaults()
    await stage.clearJournal()
    expect((await page(mine, first.body.next_page_token)).status).toBe(200)
    expect(await asked()).toEqual(new Set(['v2']))
    await stage.clearJournal()
    expect((await page(other, begun.body.next_page_token)).status).toBe(200)
    expect(await asked()).toEqual(new Set(['v1']))
  })

  it('is no list that v1 may begin if its parameters are a form, which may hold a token', async () => {
    stage = await startStage({ emulated: 'v2' })
    await stage.fault(failing)
    const headers = { authorization: `Bearer ${stage.sandbox.tokens.owner}`, 'content-type': 'application/x-www-form-urlencoded' }
    const asForm = { method: 'POST', headers: { ...headers, 'x-http-method-override': 'GET' }, body: 'page_size=5' }
    expect((await fetch(`${stage.server.url}/registry/v1/eoltags`, asForm)).status).toBe(503)
    expect(await fallbacks()).toEqual({ taken: 0, refused: 0, walks: 1 })
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
