import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { createCollapse, createEvidence, type Observation } from '../../../src/migrate/evidence/evidence.ts'

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
    expect(all.of(LIST)).toMatchObject({ comparisons: 1, n: 1, matches: 1, callers: 1, shapes: 1, repeats: { n: 0 } })
  })

  it('counts another caller, shape or window', () => {
    const all = evidence()
    const others = [one(), one({ caller: 'd' }), one({ shape: 's' }), one({ outcome: 'mismatch' }), one({ operation: 'iam.groups.list' })]
    expect(others.map((observation) => all.observe(observation)?.isFirst)).toEqual([true, true, true, false, true])
    all.clock.now = 999
    expect(all.observe(one())).toBeUndefined()
    all.clock.now = 1_000
    expect(all.observe(one())?.isFirst).toBe(true)
    expect(all.of(LIST)).toMatchObject({ n: 4, bad: 0, matches: 4, callers: 2, shapes: 2, firstAt: 0, lastAt: 1_000 })
  })

  it('keeps another outcome of the same pair apart: it says how many requests are wrong, not how many kinds of them', () => {
    const all = evidence()
    for (const outcome of ['match', 'mismatch', 'match', 'error'] as const) all.observe(one({ outcome }))
    const repeats = { n: 2, bad: 2, requests: 2, wrong: 2, bound: 1 }
    expect(all.of(LIST)).toMatchObject({ n: 1, bad: 0, matches: 1, mismatches: 1, errors: 1, repeats, share: 2 / 3 })
  })

  it('weighs a repeat by the requests that it stands for', () => {
    const all = evidence()
    all.observe(one())
    all.observe(one({ outcome: 'mismatch', weight: 20 }))
    all.add(LIST, { comparisons: 9, repeats: { n: 9, bad: 0, requests: 180, wrong: 0 } })
    const repeats = { n: 10, bad: 1, requests: 200, wrong: 20 }
    expect(all.of(LIST)).toMatchObject({ comparisons: 11, n: 1, bad: 0, repeats, share: 20 / 201 })
  })

  it('takes the first comparison that says something as the observation', () => {
    const all = evidence()
    for (const outcome of ['race', 'inconclusive', 'mismatch', 'match'] as const) all.observe(one({ outcome }))
    expect(all.of(LIST)).toMatchObject({ n: 1, bad: 1, repeats: { n: 1, bad: 0 } })
  })

  it('knows the pace after an hour, by the last day', () => {
    const all = evidence()
    const hour = 3_600_000
    const at = (nth: number) => all.observe(one({ shape: `${nth}` }), nth * (hour / 4))
    for (let nth = 0; nth < 4; nth++) at(nth)
    expect(all.of(LIST)?.perDay).toBeUndefined()
    for (let nth = 4; nth <= 400; nth++) at(nth)
    expect(all.of(LIST)?.perDay).toBeCloseTo(96, -1)
    all.observe(one({ operation: 'iam.groups.list' }), 200 * hour)
    expect(all.of(LIST)?.perDay).toBeUndefined()
  })

  it('counts what was not compared, by reason', () => {
    const all = evidence()
    all.add(LIST, { uncompared: { perSecond: 3 } })
    all.add(LIST, { uncompared: { perSecond: 1, answerBytes: 1 } })
    expect(all.of(LIST)).toMatchObject({ comparisons: 0, n: 0, bound: 1, uncompared: { perSecond: 4, answerBytes: 1 } })
  })

  it('does not count races and open questions', () => {
    const all = evidence()
    for (const outcome of ['match', 'expected', 'noise', 'race', 'mismatch', 'transient', 'error', 'inconclusive'] as const)
      all.observe(one({ outcome, shape: outcome }))
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
    const place = createCollapse({ windowMs: 100, entries: 2 })
    const at = (shape: string, now: number, outcome: ComparisonOutcome = 'match') => place(one({ shape, outcome }), now).isFirst
    expect([at('a', 0), at('b', 50), at('c', 60), at('d', 60, 'mismatch')]).toEqual([true, true, false, true])
    expect([at('c', 100), at('a', 101)]).toEqual([true, false])
  })

  it('takes no observation for a repetition that is older than the window', () => {
    const place = createCollapse({ windowMs: 100, entries: 9 })
    expect([1_000, 950, 899, 890].map((now) => place(one(), now).isFirst)).toEqual([true, false, true, false])
  })

  it('counts one observation of a pair in any ten minutes, whatever said nothing before it', () => {
    const place = createCollapse({ windowMs: 100, entries: 9 })
    const at = (now: number, outcome: ComparisonOutcome) => place(one({ outcome }), now)
    expect(at(0, 'race')).toEqual({ isFirst: false, isNewOutcome: true })
    expect([at(99, 'match').isFirst, at(100, 'match').isFirst, at(199, 'match').isFirst]).toEqual([true, false, true])
    expect(at(250, 'mismatch')).toEqual({ isFirst: false, isNewOutcome: true })
    expect(at(299, 'mismatch')).toEqual({ isFirst: true, isNewOutcome: false })
  })

  it('counts everything without a window', () => {
    const place = createCollapse({ windowMs: 0, entries: 2 })
    const first = { isFirst: true, isNewOutcome: true }
    expect([place(one(), 0), place(one(), 0)]).toEqual([first, first])
  })
})
