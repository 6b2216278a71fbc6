import { afterEach, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { ALL_V2, type ModeRules } from '../../../src/migrate/modes/rules.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import type { Mode } from '../../../src/serve/sides.ts'
import { type Stage, startStage } from '../../stage/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const canary = (base: Mode, mode: Mode): ModeRules => ({
  ...ALL_V2,
  default: base,
  rules: [{ operations: '*', clients: '*', mode: base, canary: { percent: 100, mode } }],
})
const start = async (modes: ModeRules, values: Partial<Config> = {}) => {
  stage = await startStage({ modes, 'diff.perSecond': 0, ...values })
}
const warnings = () => stage.server.log.map(({ msg }) => String(msg)).filter((text) => text.startsWith('the circuit of'))
const create = () => stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'made' } })
const list = () => stage.request('GET', '/iam/v1/groups?limit=1')
const circuits = async () => (await stage.evidence()).circuits
const modesNow = async () => (await fetch(`${stage.server.adminUrl}/modes`)).json() as Promise<object>

/** Ways in which v2 fails every create. */
const FAILURES: readonly (readonly [name: string, fault: object, status: number])[] = [
  ['answers 503', { status: 503 }, 503],
  ['answers 500', { status: 500 }, 500],
  ['breaks the connection off', { reset: true }, 503],
  ['answers too late', { delayMs: 60_000 }, 504],
]

describe.each(['v2', 'diff-v2'] as const)('creates in a canary of mode %s', (mode) => {
  it.each(FAILURES)('open the circuit if v2 %s', async (_, fault, status) => {
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

describe('a create that v2 fails in mode diff-v2', () => {
  const comparisons = async () =>
    (await (await fetch(`${stage.server.adminUrl}/comparisons?operation=iam.groups.create`)).json()) as readonly Comparison[]

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
    const metrics = await (await fetch(`${stage.server.adminUrl}/metrics`)).text()
    expect(metrics).toContain('crosswalk_circuit_open{operation="iam.groups.list"} 1')
  })

  it('lets an answer of /modes be sent back, which closes it', async () => {
    await open({})
    const body = JSON.stringify(await modesNow())
    const answer = await fetch(`${stage.server.adminUrl}/modes`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
    expect([answer.status, await answer.json()]).toMatchObject([200, { ...canary('v1', 'v2'), version: 2 }])
    expect(await modesNow()).toMatchObject(canary('v1', 'v2'))
    expect(await modesNow()).not.toHaveProperty('circuits')
  })

  it('is one log line, which says what opened or closed it', async () => {
    await open({})
    await stage.setModes(canary('v1', 'v2'))
    const lines = stage.server.log.filter(({ what }) => what !== undefined).map(({ time: _, ...line }) => line)
    const operation = 'iam.groups.list'
    expect(lines).toMatchObject([
      { level: 40, what: 'circuit', operation, by: { source: 'circuit' }, from: 'closed', to: 'open' },
      { level: 30, what: 'modes', by: { source: 'file', path: 'test' }, version: 2 },
      { level: 40, what: 'circuit-closed', operation, by: { source: 'file', path: 'test' }, from: 'open', to: 'closed' },
    ])
    const metrics = await (await fetch(`${stage.server.adminUrl}/metrics`)).text()
    for (const what of ['circuit', 'circuit-closed', 'modes']) expect(metrics).toContain(`crosswalk_notes_total{what="${what}"} 1`)
    expect(metrics).toContain('crosswalk_modes_version 2')
  })

  it('stays open by default, even if v2 is compared and right', async () => {
    await open({}, 'diff-v1')
    await askOften(400)
    expect((await circuits())['iam.groups.list']?.state).toBe('open')
  })

  it('closes by probes once v2 is right again, and no client meets v2 until then', async () => {
    await open({ 'circuit.probePercent': 100, 'diff.waiting': 10_000 })
    const before = stage.server.log.length
    while (warnings().length < 2) await askOften(50)
    expect(warnings()[1]).toMatch(/^the circuit of iam\.groups\.list is closed again: 0 of \d+ answers failed/)
    const probes = stage.server.log.slice(before).filter(({ msg }) => msg === 'request')
    expect(new Set(probes.map(({ mode, status }) => `${mode} ${status}`))).toEqual(new Set(['diff-v1 200']))
    await list()
    await stage.settled()
    expect(stage.server.log.findLast(({ msg }) => msg === 'request')).toMatchObject({ mode: 'v2' })
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
