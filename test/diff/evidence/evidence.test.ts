import { describe, expect, it } from 'vitest'
import { createCollapse } from '../../../src/diff/evidence/collapse.ts'
import { createEvidence } from '../../../src/diff/evidence/evidence.ts'
import type { Observation } from '../../../src/diff/evidence/observation.ts'
import type { ComparisonOutcome } from '../../../src/diff/judge/judge.ts'

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

  it('takes no observation for a repetition that is older than the window', () => {
    const isNew = createCollapse({ windowMs: 100, entries: 9 })
    expect([1_000, 950, 899, 890].map((now) => isNew(one(), now))).toEqual([true, false, true, false])
  })

  it('counts everything without a window', () => {
    const isNew = createCollapse({ windowMs: 0, entries: 2 })
    expect([isNew(one(), 0), isNew(one(), 0)]).toEqual([true, true])
  })
})
