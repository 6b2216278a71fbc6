import { describe, expect, it } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { ALL_V2, type ModeRules } from '../../../src/migrate/modes/rules.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import type { Mode } from '../../../src/serve/sides.ts'
import { isFull, sampled } from '../../sample.ts'
import { type Stage, startStage } from '../../stage/stage.ts'

describe('circuit', () => {
  let stage: Stage

  const canary = (base: Mode, mode: Mode): ModeRules => ({
    ...ALL_V2,
    default: base,
    rules: [{ operations: '*', clients: '*', mode: base, canary: { percent: 100, mode } }],
  })
  const start = async (modes: ModeRules, values: Partial<Config> = {}) => {
    stage = await startStage({ proxy: { modes, 'diff.perSecond': 0, ...values } })
  }
  const warnings = () => stage.log.map(({ msg }) => String(msg)).filter((text) => text.startsWith('the circuit of'))
  const create = () => stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'made' } })
  const list = () => stage.request('GET', '/iam/v1/groups?limit=1')
  const circuits = async () => (await stage.evidence()).circuits
  const modesNow = async () => (await fetch(`${stage.adminUrl}/modes`)).json() as Promise<object>

  /** Ways in which v2 fails every create. */
  const FAILURES: readonly (readonly [name: string, fault: object, status: number])[] = [
    ['answers 503', { status: 503 }, 503],
    ['answers 500', { status: 500 }, 500],
    ['breaks the connection off', { reset: true }, 503],
    ['answers too late', { delayMs: 60_000 }, 504],
  ]

  describe.each([
    ['v2', 0],
    ['diff-v2', 1],
  ] as const)('creates in a canary of mode %s', (mode, first) => {
    it.each(sampled(FAILURES, 2, first))('open the circuit if v2 %s', async (_, fault, status) => {
      await start(canary('diff-v1', mode), { 'limits.callTimeoutMs': 1000 })
      await list()
      await stage.fault({ match: 'POST /iam/v2/groups', ...fault })
      const failed = await Promise.all(Array.from({ length: 4 }, create))
      expect(failed.map((answer) => answer.status)).toEqual(Array(4).fill(status))
      expect([(await create()).status, (await create()).status]).toEqual([200, 200])
      expect(warnings()).toEqual([
        expect.stringMatching(/^the circuit of iam\.groups\.create is open, its canary share is 0: errors: 4 of the last 4 answers failed/),
      ])
    })

    it('open no circuit if v2 limits or refuses the caller', async () => {
      await start(canary('diff-v1', mode))
      await list()
      for (const status of [429, 403, 501]) {
        await stage.clearFaults()
        await stage.fault({ match: 'POST /iam/v2/groups', status })
        for (let nth = 0; nth < 10; nth += 1) expect((await create()).status).toBe(status)
      }
      expect(warnings()).toEqual([])
    })
  })

  it.each(['v2', 'diff-v2'] as const)('stays closed in mode %s if clients give v2 too little time', async (mode) => {
    await start(canary('diff-v1', mode))
    await list()
    await stage.fault({ match: 'GET /iam/v2/groups', delayMs: 60_000 })
    const authorization = `Bearer ${stage.sandbox.tokens.owner}`
    const headers = { authorization, 'content-type': 'application/json', 'connect-timeout-ms': '30' }
    const call = () => fetch(`${stage.url}/chainguard.platform.iam.Groups/List`, { method: 'POST', headers, body: '{}' })
    for (let nth = 0; nth < 6; nth += 1) expect((await call()).status).toBe(504)
    await stage.idle()
    expect(warnings()).toEqual([])
  })

  describe('a create that v2 fails in mode diff-v2', () => {
    const comparisons = async () =>
      (await (await fetch(`${stage.adminUrl}/comparisons?operation=iam.groups.create`)).json()) as readonly Comparison[]

    it('is an error in the evidence, and one observation', async () => {
      await start(canary('diff-v1', 'diff-v2'))
      await list()
      await stage.fault({ match: 'POST /iam/v2/groups', status: 503 })
      for (let nth = 0; nth < 3; nth += 1) await create()
      await stage.settled()
      const { operations } = await stage.evidence()
      expect(operations.find(({ operation }) => operation === 'iam.groups.create')).toMatchObject({ errors: 1, n: 1 })
      expect(await comparisons()).toMatchObject([
        { check: 'write', outcome: 'error', reason: 'v2 answered HTTP 503 to a write', v2: { status: 503 } },
      ])
      expect((await comparisons())[0]).not.toHaveProperty('v1')
    })

    it('is inconclusive if v2 limits the caller, because v1 cannot be asked', async () => {
      await start({ ...ALL_V2, default: 'diff-v2' })
      await list()
      await stage.fault({ match: 'POST /iam/v2/groups', status: 429 })
      await create()
      await stage.settled()
      expect(await comparisons()).toMatchObject([
        { outcome: 'inconclusive', reason: 'v2 answered HTTP 429 to a write, and v1 was not asked' },
      ])
    })
  })

  describe('an open circuit', () => {
    const open = async (values: Partial<Config>, base: Mode = 'v1') => {
      await start(canary(base, 'v2'), values)
      await list()
      await stage.fault({ match: 'GET /iam/v2/groups', status: 503 })
      for (let nth = 0; nth < 10 && warnings().length === 0; nth += 1) await list()
      expect(warnings()).toHaveLength(1)
      await stage.clearFaults()
    }
    const askOften = async (count: number) => {
      for (let nth = 0; nth < count; nth += 50) await Promise.all(Array.from({ length: 50 }, list))
      await stage.settled()
    }

    it('is shown by /modes, /evidence and the metrics, although nothing was compared', async () => {
      await open({})
      expect(await modesNow()).toMatchObject({
        circuits: { 'iam.groups.list': expect.stringMatching(/^errors: 4 of the last 4 answers failed/) },
      })
      expect((await circuits())['iam.groups.list']).toMatchObject({ state: 'open', errors: { allowed: 0.05 } })
      const metrics = await (await fetch(`${stage.adminUrl}/metrics`)).text()
      expect(metrics).toContain('crosswalk_circuit_open{operation="iam.groups.list"} 1')
    })

    it('lets an answer of /modes be sent back, which closes it', async () => {
      await open({})
      const body = JSON.stringify(await modesNow())
      const answer = await fetch(`${stage.adminUrl}/modes`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
      expect([answer.status, await answer.json()]).toMatchObject([200, { ...canary('v1', 'v2'), version: 2 }])
      expect(await modesNow()).toMatchObject(canary('v1', 'v2'))
      expect(await modesNow()).not.toHaveProperty('circuits')
    })

    it('is one log line, which says what opened or closed it', async () => {
      await open({})
      await stage.setModes(canary('v1', 'v2'))
      const lines = stage.log.filter(({ what }) => what !== undefined).map(({ time: _, ...line }) => line)
      const operation = 'iam.groups.list'
      expect(lines).toMatchObject([
        { level: 40, what: 'circuit', operation, by: { source: 'circuit' }, from: 'closed', to: 'open' },
        { level: 30, what: 'modes', by: { source: 'file', path: 'test' }, version: 2 },
        { level: 40, what: 'circuit-closed', operation, by: { source: 'file', path: 'test' }, from: 'open', to: 'closed' },
      ])
      const metrics = await (await fetch(`${stage.adminUrl}/metrics`)).text()
      for (const what of ['circuit', 'circuit-closed', 'modes']) expect(metrics).toContain(`crosswalk_notes_total{what="${what}"} 1`)
      expect(metrics).toContain('crosswalk_modes_version 2')
    })

    it('stays open by default, even if v2 is compared and right', async () => {
      await open({}, 'diff-v1')
      await askOften(isFull ? 400 : 100)
      expect((await circuits())['iam.groups.list']?.state).toBe('open')
    })

    it('closes by probes once v2 is right again, and no client meets v2 until then', async () => {
      await open({ 'circuit.probePercent': 100, 'diff.waiting': 10_000 })
      const before = stage.log.length
      while (warnings().length < 2) await askOften(50)
      expect(warnings()[1]).toMatch(/^the circuit of iam\.groups\.list is closed again: 0 of \d+ answers failed/)
      const probes = stage.log.slice(before).filter(({ msg }) => msg === 'request')
      expect(new Set(probes.map(({ mode, status }) => `${mode} ${status}`))).toEqual(new Set(['diff-v1 200']))
      await list()
      await stage.settled()
      expect(stage.log.findLast(({ msg }) => msg === 'request')).toMatchObject({ mode: 'v2' })
      expect(await modesNow()).not.toHaveProperty('circuits')
    })

    it('stays open while probes still find v2 wrong', async () => {
      await open({ 'circuit.probePercent': 100, 'diff.waiting': 10_000 })
      await stage.fault({ match: 'GET /iam/v2/groups', change: { at: '/groups/0/name', to: 'wrong' } })
      await askOften(100)
      expect(warnings()).toHaveLength(1)
      expect((await circuits())['iam.groups.list']).toMatchObject({ state: 'open', errors: { bad: 0 }, mismatches: { n: 0 } })
    })
  })
})

describe('fallback', () => {
  let stage: Stage

  const REPOS = '/registry/v1/repos?limit=2'
  const failing = { match: 'GET /registry/v2/', status: 503 }

  describe('a read that v2 fails', () => {
    it.each(['v2', 'diff-v2'] as const)('is answered from v1 in mode %s, and counted', async (mode) => {
      stage = await startStage({ mode })
      const before = await stage.request('GET', REPOS)
      await stage.settled()
      await stage.fault(failing)
      const after = await stage.request('GET', REPOS)
      expect([after.status, after.body]).toEqual([200, before.body])
      await stage.settled()
      expect((await stage.evidence()).fallbacks).toEqual({ taken: 1, refused: 0, walks: 0 })
      expect(stage.log.filter(({ mode }) => mode === 'fallback')).toHaveLength(1)
    })

    it('is an error of v2 in the evidence, although the client saw none', async () => {
      stage = await startStage({ mode: 'diff-v2' })
      await stage.fault(failing)
      expect((await stage.request('GET', REPOS)).status).toBe(200)
      await stage.settled()
      expect((await stage.evidence()).operations).toMatchObject([{ operation: 'registry.repos.list', errors: 1, n: 1 }])
    })

    it('by a timeout is answered from v1 too', async () => {
      stage = await startStage({ proxy: { 'limits.callTimeoutMs': 1000 } })
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
      stage = await startStage({ proxy: { 'fallback.perMinute': 2 } })
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
      stage = await startStage({ v1: null })
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
      stage = await startStage({ mode, proxy: { emulated: 'v2' } })
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
      stage = await startStage({ proxy: { emulated: 'v2' } })
      const first = await stage.request('GET', TAGS)
      await stage.settled()
      await stage.fault(failing)
      await stage.clearJournal()
      expect(await page(TAGS, first.body.next_page_token)).toMatchObject({ status: 503, body: { message: 'fault injected: 503' } })
      expect(await asked()).toEqual(new Set(['v2']))
      expect(await fallbacks()).toEqual({ taken: 0, refused: 0, walks: 1 })
      const metrics = await (await fetch(`${stage.adminUrl}/metrics`)).text()
      expect(metrics).toContain('crosswalk_fallbacks_total{answered="list"} 1')
    })

    it('moves no other list of the caller that v2 has begun', async () => {
      stage = await startStage({ proxy: { emulated: 'v2' } })
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
      stage = await startStage({ proxy: { emulated: 'v2' } })
      await stage.fault(failing)
      const headers = { authorization: `Bearer ${stage.sandbox.tokens.owner}`, 'content-type': 'application/x-www-form-urlencoded' }
      const asForm = { method: 'POST', headers: { ...headers, 'x-http-method-override': 'GET' }, body: 'page_size=5' }
      expect((await fetch(`${stage.url}/registry/v1/eoltags`, asForm)).status).toBe(503)
      expect(await fallbacks()).toEqual({ taken: 0, refused: 0, walks: 1 })
    })
  })

  it('the circuit opens when the answers of v2 differ', async () => {
    stage = await startStage({ mode: 'diff-v1' })
    await stage.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/0/name', to: 'wrong' } })
    for (let nth = 0; nth < 3; nth += 1) await stage.request('GET', REPOS)
    await stage.settled()
    expect((await stage.evidence()).operations).toMatchObject([
      { circuit: { state: 'open', reason: expect.stringMatching(/^mismatches: /) } },
    ])
  })
})
