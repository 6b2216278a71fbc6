import { beforeAll, describe, expect, it } from 'vitest'
import type { InForce } from '../../src/admin/report/history.ts'
import { createReporter, type Report } from '../../src/admin/report/report.ts'
import { createReportMaker } from '../../src/admin/report-page.ts'
import { createInventory } from '../../src/migrate/clients.ts'
import { createExpected } from '../../src/migrate/compare/expected.ts'
import { createEvidence } from '../../src/migrate/evidence/evidence.ts'
import { operations } from '../diff/given.ts'
import { startStage } from '../stage/stage.ts'
import { reportOf } from './given.ts'

describe('the report of a running proxy', () => {
  let adminUrl = ''
  let fail: () => Promise<void>

  beforeAll(async () => {
    const rules = [{ operations: 'iam.*', clients: '*', mode: 'diff-v1' as const, canary: { percent: 100, mode: 'v2' as const } }]
    const stage = await startStage({ modes: { default: 'diff-v1', rules, testers: [] }, 'log.level': 'silent' })
    adminUrl = stage.server.adminUrl
    fail = async () => {
      await stage.request('GET', '/iam/v1/groups')
      await stage.fault({ match: 'GET /iam/v2/groups', status: 500 })
      for (let nth = 0; nth < 10; nth++) await stage.request('GET', '/iam/v1/groups')
      await stage.server.idle()
    }
    return () => stage.close()
  })

  const ask = (etag?: string) => fetch(`${adminUrl}/report.json`, { headers: etag === undefined ? {} : { 'if-none-match': etag } })

  it('says what is active', async () => {
    const { now } = (await (await ask()).json()) as Report
    expect(now).toMatchObject({
      rules: { default: 'diff-v1', rules: [{ canary: { percent: 100, mode: 'v2' } }] },
      circuits: {},
      hasV1: true,
    })
    expect(now?.v1First).toContain('registry.eol_tags.list')
    await fail()
    expect(((await (await ask()).json()) as Report).now?.circuits).toEqual({ 'iam.groups.list': expect.stringContaining('errors') })
  })

  it('is sent again only if it says something else', async () => {
    const first = await ask()
    const etag = first.headers.get('etag') ?? ''
    const again = await ask(etag)
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"default":"v1"}' }
    await fetch(`${adminUrl}/modes`, put)
    const other = await ask('"of another report"')
    expect([first.status, other.status, (await ask()).headers.get('etag') === etag]).toEqual([200, 200, false])
  })
})

describe('a report of a running proxy', () => {
  it('is not ready while a rollout has turned back, as cutover says', () => {
    const now = () => 0
    const ledger = { evidence: createEvidence(now), inventory: createInventory(operations), expected: createExpected([], now) }
    for (let nth = 0; nth < 400; nth += 1) {
      // Each of a hundred kinds comes of four callers.
      ledger.evidence.observe({ operation: 'iam.groups.list', caller: `c${nth % 4}`, shape: `${nth >> 2}`, outcome: 'match' })
    }
    const reporter = createReporter({ ledger, operations, describe: () => ({ seen: '', because: '' }) })
    const rollout = { name: 'reads', reach: ['iam.groups.list'], phase: 'turned-back', percent: 0, reason: 'v2 was wrong.' }
    const ready = (...rollouts: object[]) =>
      reporter.report({ target: 0.01, now: 0, inForce: { rollouts, circuits: {} } as unknown as InForce }).ready
    expect([ready(), ready(rollout)]).toEqual([true, false])
  })
})

describe('a report of record files', () => {
  it('says nothing of what is active', async () => {
    expect(await reportOf([])).not.toHaveProperty('now')
  })
})

describe('the maker of reports', () => {
  it('makes few for pages that ask often, and fewer if they take long', async () => {
    const report = await reportOf([])
    let [clock, made] = [0, 0]
    const slow = createReportMaker(
      () => {
        clock += 100
        made += 1
        return report
      },
      () => clock,
    )
    const ends = new Set<string>()
    for (let nth = 0; nth < 60; nth++) {
      clock += 100
      ends.add((await slow.recent()).etag)
    }
    expect([made, ends.size]).toEqual([3, 1])
    await slow.made()
    expect(made).toBe(4)
    clock += 10_000
    await Promise.all([slow.recent(), slow.recent()])
    expect(made).toBe(5)
  })
})
