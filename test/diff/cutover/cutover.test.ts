import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { type CutoverQuestion, judgeCutover, rolloutSentences } from '../../../src/migrate/evidence/cutover.ts'
import { createEvidence, moreNeeded } from '../../../src/migrate/evidence/evidence.ts'
import { readDismissal } from '../../../src/migrate/evidence/terms.ts'
import { operations } from '../given.ts'

const LIST = 'registry.repos.list'
const RAW = 'registry.vuln_reports.list'

type Counts = readonly (readonly [count: number, outcome?: ComparisonOutcome, operation?: string])[]

/** The evidence of these numbers of different observations. */
function evidence(counts: Counts) {
  const all = createEvidence(() => 0)
  for (const [count, outcome = 'match', operation = LIST] of counts) {
    for (let nth = 0; nth < count; nth++) all.observe({ operation, caller: 'c', shape: `${outcome}-${nth}`, outcome })
  }
  return all.all()
}

function judge(counts: Counts, traffic: Record<string, number> = {}, members: Partial<CutoverQuestion> = {}) {
  const seen = { evidence: evidence(counts), traffic: new Map(Object.entries(traffic)), clients: [] }
  return judgeCutover({ target: 0.01, withoutV1: false, isStrict: true, ...seen, operations, ...members })
}

describe('the cutover', () => {
  it('is ready when every operation with traffic is inside', () => {
    expect(judge([[1_000], [1_000, 'match', 'iam.groups.list']], { [LIST]: 5_000 })).toMatchObject({
      ready: true,
      reasons: ['All 2 operations with traffic have a bound of 1 % or less.'],
      operations: [
        { operation: 'iam.groups.list', standing: 'inside', blocks: false, needed: 0, calls: 0 },
        { operation: LIST, standing: 'inside', calls: 5_000 },
      ],
    })
  })

  it('is not ready without traffic', () => {
    expect(judge([])).toMatchObject({ ready: false, reasons: ['No v1 request was seen yet: nothing is known.'] })
  })

  it('says what is missing: too little is INCONCLUSIVE, never a pass', () => {
    const [found] = evidence([[100]])
    const needed = found && moreNeeded(found, 0.01)
    expect(needed).toBeGreaterThan(150)
    const { ready, operations: verdicts } = judge([[100]])
    expect(ready).toBe(false)
    expect(verdicts[0]).toMatchObject({ standing: 'inconclusive', blocks: true, needed })
    expect(verdicts[0]?.reason).toMatch(
      new RegExp(
        `^registry.repos.list: INCONCLUSIVE after 100 observations \\(bound [\\d.]+ %\\); ${needed} more clean observations until ≤ 1 %\\.$`,
      ),
    )
  })

  it('says what is wrong', () => {
    expect(judge([[20], [2, 'mismatch'], [1, 'transient'], [1, 'error']]).operations[0]).toMatchObject({
      standing: 'outside',
      blocks: true,
      reason: expect.stringMatching(
        /^registry.repos.list: OUTSIDE: 2 mismatches, 1 transient difference, 1 error; 4 of 24 observations and 16.7 % of the requests were wrong. Fix them, then 1,277 more clean/,
      ),
    })
  })

  it('names operations that were never compared', () => {
    const { reasons } = judge([], { 'iam.groups.list': 1 })
    expect(reasons).toEqual(['iam.groups.list had 1 request and no comparison: put it into a diff mode.'])
  })

  it('is not reached while a circuit is open, however good the evidence', () => {
    const openCircuits = new Map([[LIST, 'errors: 9 of the last 9 answers failed']])
    expect(judge([[1_000]], {}, { openCircuits })).toMatchObject({
      ready: false,
      reasons: ['registry.repos.list: HELD BACK, because its circuit is open. errors: 9 of the last 9 answers failed.'],
      operations: [{ standing: 'held-back', blocks: true }],
    })
    expect(judge([[1, 'error']], {}, { openCircuits }).operations).toMatchObject([{ standing: 'outside', blocks: true }])
    expect(judge([[1, 'error']], {}, { openCircuits }).reasons[0]).toMatch(
      /^registry.repos.list: OUTSIDE: 1 error; .+ Its circuit is open\. errors: /,
    )
  })

  it('is not reached by an operation whose rollout turned back, however good the evidence', () => {
    const back = { name: 'repos', reach: [LIST], phase: 'turned-back', percent: 0, reason: 'the circuit opened' }
    expect(judge([[1_000]], {}, { rollouts: [back] })).toMatchObject({
      ready: false,
      reasons: ['registry.repos.list: HELD BACK, because its rollout repos turned back. the circuit opened.'],
      operations: [{ standing: 'held-back', blocks: true }],
    })
    expect(judge([[1_000]], {}, { rollouts: [{ ...back, reach: ['registry.repos.create'] }] }).ready).toBe(true)
    expect(judge([[1_000]], {}, { rollouts: [{ ...back, phase: 'running' }] }).ready).toBe(true)
  })

  it('is not reached by races alone', () => {
    expect(judge([[10_000, 'race']]).operations[0]?.standing).toBe('inconclusive')
  })
})

it('tells the rollouts of the operations that are not done', () => {
  const rollout = { name: 'repos', reach: [LIST], phase: 'paused', percent: 10, reason: 'it waits' }
  const told = (...phases: readonly string[]) =>
    rolloutSentences(
      [LIST],
      phases.map((phase) => ({ ...rollout, phase })),
    )
  expect(told('done', 'turned-back', 'paused', 'paused')).toEqual(['Rollout repos is paused at 10 %: it waits.'])
  expect(rolloutSentences(['iam.groups.list'], [rollout])).toEqual([])
})

describe('a write that no read can show', () => {
  const WRITE = 'iam.groups.request_access'

  it('is listed, and does not block', () => {
    const verdict = judge([[1_000], [3, 'inconclusive', WRITE]], { [LIST]: 9, [WRITE]: 5 }, { withoutV1: true })
    expect(verdict).toMatchObject({
      ready: true,
      reasons: ['All 1 operations with traffic have a bound of 1 % or less; 1 more cannot be verified.'],
      operations: [
        { standing: 'unverifiable', blocks: false, reason: expect.stringContaining(' cannot be verified (5 calls by 0 clients): ') },
        {},
      ],
    })
    expect(judge([], { [WRITE]: 5 }).ready).toBe(false)
  })

  it('blocks if v2 fails it too often', () => {
    const rarely = judge([
      [1, 'error', WRITE],
      [200, 'inconclusive', WRITE],
    ]).operations
    expect(rarely).toMatchObject([{ standing: 'unverifiable', blocks: false }])
    expect(judge([[1, 'error', WRITE]]).operations).toMatchObject([{ standing: 'outside', blocks: true }])
  })

  it('blocks if v2 alone refuses it too often', () => {
    const refused = (count: number) => {
      const all = createEvidence(() => 0)
      for (let nth = 0; nth < 200; nth += 1) all.observe({ operation: WRITE, caller: 'c', shape: `s${nth}`, outcome: 'inconclusive' })
      all.add(WRITE, { uncompared: { writeRefused: count } })
      return judge([], {}, { evidence: all.all() }).operations
    }
    expect(refused(1)).toMatchObject([{ standing: 'unverifiable', blocks: false }])
    expect(refused(9)).toMatchObject([
      { standing: 'inconclusive', blocks: true, reason: expect.stringContaining('as 9 requests wrote and were refused by v2') },
    ])
  })
})

describe('what only v1 answers', () => {
  const UNKNOWN = 'unknown GET /registry/v1/repos/…/diff'
  const GO = 'libraries.artifacts.list?ecosystems'
  const clients = [
    { caller: 'a'.repeat(16), operations: [{ operation: RAW, calls: 2 }] },
    {
      caller: 'b'.repeat(16),
      subject: 'ci',
      operations: [
        { operation: RAW, calls: 5 },
        { operation: UNKNOWN, calls: 1 },
      ],
    },
  ]
  const traffic = { [LIST]: 1_000, [RAW]: 7, [UNKNOWN]: 1, [GO]: 3 }

  it('stays with v1, and does not block while v1 stays', () => {
    const verdict = judge([[1_000]], traffic, { clients })
    expect(verdict).toMatchObject({
      ready: true,
      reasons: ['All 1 operations with traffic have a bound of 1 % or less; 3 more stay with v1.'],
    })
    const stays = verdict.operations.filter(({ standing }) => standing === 'v1-only')
    expect(stays.map(({ operation, blocks }) => [operation, blocks])).toEqual([
      [GO, false],
      [RAW, false],
      [UNKNOWN, false],
    ])
    expect(stays[1]?.reason).toMatch(/^registry\.vuln_reports\.list stays with v1 \(7 calls by 2 clients\): .+[^.]\.$/)
  })

  it('blocks the end of v1, with its clients', () => {
    const verdict = judge([[1_000]], traffic, { clients, withoutV1: true })
    expect(verdict.ready).toBe(false)
    expect(verdict.reasons).toHaveLength(3)
    const found = verdict.operations.find(({ operation }) => operation === RAW)
    expect(found).toMatchObject({
      blocks: true,
      clients: [
        { caller: 'b'.repeat(16), subject: 'ci', calls: 5 },
        { caller: 'a'.repeat(16), calls: 2 },
      ],
    })
    expect(found?.reason).toMatch(/^registry\.vuln_reports\.list needs a v1 service \(7 calls by 2 clients: ci 5, a{16} 2\): /)
  })

  it('is never a pass alone', () => {
    expect(judge([], { [RAW]: 7 })).toMatchObject({
      ready: false,
      reasons: ['No request was seen whose answer could be compared: nothing is known.'],
    })
  })
})

describe('a path that no table has, called by strangers', () => {
  const USE = 'unknown GET /registry/v1/diff'
  const asked = { strangers: new Map([[USE, 200]]) }

  it('is in the way of the end of v1, because v1 answered it well', () => {
    const { ready, operations: verdicts } = judge([[1_000]], {}, { ...asked, withoutV1: true })
    expect(ready).toBe(false)
    expect(verdicts.find(({ operation }) => operation === USE)).toMatchObject({
      ...{ standing: 'v1-only', blocks: true },
      reason: expect.stringContaining('INCONCLUSIVE, because v1 answered 200 requests of callers that no other request proves'),
    })
    expect(judge([[1_000]], {}, asked).ready).toBe(true)
  })

  it('is not if a person dismisses it', () => {
    const dismissal = { called: 'GET /registry/v1/diff', until: '2027-01-31', reason: 'a scanner' }
    const { ready, operations: verdicts } = judge([[1_000]], { [USE]: 3 }, { ...asked, withoutV1: true, dismissed: [dismissal] })
    expect(ready).toBe(true)
    expect(verdicts.find(({ operation }) => operation === USE)).toMatchObject({
      ...{ blocks: false, reason: 'unknown GET /registry/v1/diff is dismissed until 2027-01-31 (203 calls): a scanner.' },
    })
  })

  it('is dismissed by a use, a day that is not over, and a reason', () => {
    const now = Date.parse('2026-11-26T12:00:00Z')
    const read = (text: string) => readDismissal(text, now)
    expect(read('GET /a until 2026-11-26: why not')).toEqual({ called: 'GET /a', until: '2026-11-26', reason: 'why not' })
    for (const text of ['GET /a', 'GET /a until 2026-11-26:', '/a until 2026-11-26: b', 'GET /a until 2026-13-26: b']) {
      expect(read(text)).toMatchObject({ problem: expect.stringContaining('must be like') })
    }
    expect(read('GET /a until 2026-11-25: b')).toMatchObject({ problem: expect.stringContaining('is over since 2026-11-25') })
  })
})
