import { describe, expect, it } from 'vitest'
import { createCollapse } from '../../../src/diff/evidence/collapse.ts'
import { judgeCutover } from '../../../src/diff/evidence/cutover.ts'
import { createEvidence, moreNeeded } from '../../../src/diff/evidence/evidence.ts'
import type { Observation } from '../../../src/diff/evidence/observation.ts'
import type { ComparisonOutcome } from '../../../src/diff/judge/judge.ts'
import { operations } from '../given.ts'

const LIST = 'registry.repos.list'
const one = (members: Partial<Observation> = {}): Observation => ({
  operation: LIST,
  caller: 'c',
  shape: LIST,
  outcome: 'match',
  ...members,
})

function evidence(windowMs = 1_000, entries = 100_000) {
  const clock = { now: 0 }
  return { clock, ...createEvidence(() => clock.now, { windowMs, entries }) }
}

/** Adds this many different observations. */
function observe(to: ReturnType<typeof evidence>, count: number, outcome: ComparisonOutcome = 'match', operation = LIST): void {
  for (let nth = 0; nth < count; nth++) to.observe(one({ operation, outcome, shape: `${outcome}-${nth}` }))
}

describe('evidence', () => {
  it('counts 10,000 identical polls as one observation', () => {
    const all = evidence()
    const isNew = Array.from({ length: 10_000 }, () => all.observe(one()))
    expect(isNew.filter(Boolean)).toHaveLength(1)
    expect(all.of(LIST)).toMatchObject({ comparisons: 10_000, n: 1, matches: 1, callers: 1, shapes: 1 })
  })

  it('counts another caller, shape, outcome or window', () => {
    const all = evidence()
    const others = [one(), one({ caller: 'd' }), one({ shape: 's' }), one({ outcome: 'mismatch' }), one({ operation: 'iam.groups.list' })]
    expect(others.map((observation) => all.observe(observation))).toEqual([true, true, true, true, true])
    all.clock.now = 999
    expect(all.observe(one())).toBe(false)
    all.clock.now = 1_000
    expect(all.observe(one())).toBe(true)
    expect(all.of(LIST)).toMatchObject({
      comparisons: 6,
      n: 5,
      matches: 4,
      mismatches: 1,
      callers: 2,
      shapes: 2,
      firstAt: 0,
      lastAt: 1_000,
    })
  })

  it('does not count races and open questions', () => {
    const all = evidence()
    for (const outcome of ['match', 'expected', 'noise', 'race', 'mismatch', 'transient', 'error', 'inconclusive'] as const)
      all.observe(one({ outcome }))
    expect(all.of(LIST)).toMatchObject({
      n: 6,
      matches: 1,
      expected: 1,
      noise: 1,
      races: 1,
      mismatches: 1,
      transients: 1,
      errors: 1,
      inconclusive: 1,
    })
  })

  it('takes records of other times, and drops them on reset', () => {
    const all = evidence()
    all.observe(one(), 5_000)
    expect(all.of(LIST)?.lastAt).toBe(5_000)
    all.observe(one({ operation: 'iam.groups.list' }))
    all.reset(LIST)
    expect(all.all().map(({ operation }) => operation)).toEqual(['iam.groups.list'])
    all.reset()
    expect(all.all()).toEqual([])
  })
})

describe('collapsing', () => {
  it('does not count clean observations that it could not remember', () => {
    const isNew = createCollapse({ windowMs: 100, entries: 2 })
    const at = (shape: string, now: number, outcome: ComparisonOutcome = 'match') => isNew(one({ shape, outcome }), now)
    expect([at('a', 0), at('b', 50), at('c', 60), at('d', 60, 'mismatch')]).toEqual([true, true, false, true])
    expect([at('c', 100), at('a', 101)]).toEqual([true, false])
  })

  it('counts everything without a window', () => {
    const isNew = createCollapse({ windowMs: 0, entries: 2 })
    expect([isNew(one(), 0), isNew(one(), 0)]).toEqual([true, true])
  })
})

describe('the cutover', () => {
  const judge = (all: ReturnType<typeof evidence>, traffic: Record<string, number> = {}) =>
    judgeCutover({ target: 0.01, evidence: all.all(), traffic: new Map(Object.entries(traffic)), operations })

  it('is ready when every operation with traffic is inside', () => {
    const all = evidence()
    observe(all, 1_000)
    observe(all, 1_000, 'match', 'iam.groups.list')
    expect(judge(all, { [LIST]: 5_000 })).toMatchObject({
      ready: true,
      reasons: ['All 2 operations with traffic have a bound of 1 % or less.'],
      operations: [{ operation: 'iam.groups.list', standing: 'inside', needed: 0 }, { standing: 'inside' }],
    })
  })

  it('is not ready without traffic', () => {
    expect(judge(evidence())).toMatchObject({ ready: false, reasons: ['No v1 request was seen yet: nothing is known.'] })
  })

  it('says what is missing: too little is INCONCLUSIVE, never a pass', () => {
    const all = evidence()
    observe(all, 100)
    const found = all.of(LIST)
    const needed = found && moreNeeded(found, 0.01)
    expect(needed).toBeGreaterThan(200)
    const { ready, operations: verdicts } = judge(all)
    expect(ready).toBe(false)
    expect(verdicts[0]).toMatchObject({ standing: 'inconclusive', needed })
    expect(verdicts[0]?.reason).toMatch(
      new RegExp(
        `^registry.repos.list: INCONCLUSIVE after 100 observations \\(bound [\\d.]+ %\\); ${needed} more clean requests until ≤ 1 %\\.$`,
      ),
    )
  })

  it('says what is wrong', () => {
    const all = evidence()
    observe(all, 20)
    observe(all, 2, 'mismatch')
    observe(all, 1, 'transient')
    observe(all, 1, 'error')
    expect(judge(all).operations[0]).toMatchObject({
      standing: 'outside',
      reason: expect.stringMatching(
        /^registry.repos.list: 2 mismatches, 1 transient difference and 1 error in 24 observations; mend them, then/,
      ),
    })
  })

  it('names operations that were never compared, and those that need v1', () => {
    const reasons = judge(evidence(), { 'iam.groups.list': 1, 'registry.vuln_reports.list': 7 }).reasons
    expect(reasons[0]).toBe('iam.groups.list had 1 request and no comparison: put it into a diff mode.')
    expect(reasons[1]).toMatch(/^registry\.vuln_reports\.list needs a v1 service: .+\.$/)
  })

  it('is not reached by races alone', () => {
    const all = evidence()
    observe(all, 10_000, 'race')
    expect(judge(all).operations[0]?.standing).toBe('inconclusive')
  })
})
