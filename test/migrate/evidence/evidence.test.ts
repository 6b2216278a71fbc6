import { describe, expect, it } from 'vitest'
import { createInventory } from '../../../src/migrate/clients.ts'
import { createExpected } from '../../../src/migrate/compare/expected.ts'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import {
  cleanNeeded,
  count,
  createCollapse,
  createEvidence,
  createTallies,
  type Observation,
  upperBound,
} from '../../../src/migrate/evidence/evidence.ts'
import { joinReplicas, type Replica } from '../../../src/migrate/evidence/replicas.ts'
import type { Comparison, Entry } from '../../../src/migrate/records/record.ts'
import { restore } from '../../../src/migrate/records/record-file.ts'
import { seeded } from '../../stage/clocks.ts'

describe('evidence', () => {
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

    it('remembers a pair from the time when it was last counted', () => {
      const place = createCollapse({ windowMs: 100, entries: 2 })
      const at = (shape: string, now: number) => place(one({ shape }), now).isFirst
      expect([at('a', 0), at('a', 100), at('b', 100), at('c', 150), at('a', 160)]).toEqual([true, true, true, false, false])
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
  })
})

describe('the evidence of several replicas', () => {
  it('is from the first comparison of one to the last of another', () => {
    const replica = (...times: readonly number[]): Replica => {
      const evidence = createEvidence(() => 0)
      for (const at of times) evidence.observe({ operation: 'o', caller: `of ${times}`, shape: `${at}`, outcome: 'match' }, at)
      return { evidence: evidence.all(), clients: [], traffic: {}, strangers: {}, openCircuits: {}, rollouts: [], uncounted: 0 }
    }
    const replicas = [replica(2_000, 3_000), replica(1_000, 5_000), replica(4_000)]
    expect(joinReplicas(replicas).evidence).toMatchObject([{ operation: 'o', n: 5, bad: 0, firstAt: 1_000, lastAt: 5_000 }])
  })
})

it('a count has commas as in English', () => {
  const numbers = [0, 7, 12, 999, 1000, 12_345, 100_000, 999_999, 1_000_000, 9_007_199_254_740_991]
  expect(numbers.map(count)).toEqual(numbers.map((n) => n.toLocaleString('en-US')))
})

describe('bound', () => {
  describe('the 95 % upper bound', () => {
    it('is 1 while nothing is known, and falls with every clean observation', () => {
      expect(upperBound({ n: 0, bad: 0 })).toBe(1)
      const bounds = [1, 10, 100, 1_000, 10_000, 1_000_000].map((n) => upperBound({ n, bad: 0 }))
      expect(bounds).toEqual([...bounds].sort((a, b) => b - a))
      expect(bounds.at(-1)).toBeLessThan(5e-6)
    })

    it('rises with every wrong observation', () => {
      const bounds = Array.from({ length: 200 }, (_, bad) => upperBound({ n: 10_000, bad }))
      for (const [bad, bound] of bounds.slice(1).entries()) expect(bound).toBeGreaterThan(bounds[bad] ?? 1)
    })

    it('lies above the observed rate, and at most two fifths above it in the end', () => {
      for (const [n, bad] of [
        [10, 10],
        [1_000, 500],
        [100_000, 5_000],
        [100_000, 1],
      ] as const) {
        expect(upperBound({ n, bad })).toBeGreaterThanOrEqual(bad / n)
      }
      expect(upperBound({ n: 1_000_000, bad: 5_000 }) / 0.005).toBeLessThan(1.4)
    })

    it.each([
      [0.01, [329, 688, 904]],
      [0.001, [3_282, 6_878, 9_032]],
      [0.0001, [32_815, 68_773, 90_318]],
    ])('reaches %f after the figures of docs/facts/evidence.md', (target, totals) => {
      expect(totals.map((_, bad) => bad + cleanNeeded({ n: bad, bad }, target))).toEqual(totals)
      // No test of a fixed size needs fewer than ln 20 / −ln(1 − target).
      expect(totals[0]).toBeGreaterThan(Math.log(0.05) / Math.log1p(-target))
    })

    it('reaches the target after exactly as many clean observations as it says', () => {
      for (const target of [0.2, 0.01, 0.001, 1 / 3, 0.007]) {
        for (const [n, bad] of [
          [0, 0],
          [50, 1],
          [900, 7],
        ] as const) {
          const needed = cleanNeeded({ n, bad }, target)
          const boundWith = (more: number) => upperBound({ n: n + more, bad })
          expect(boundWith(needed)).toBeLessThanOrEqual(target)
          if (needed > 0) expect(boundWith(needed - 1)).toBeGreaterThan(target)
        }
      }
      expect(cleanNeeded({ n: 1_000_000, bad: 0 }, 0.001)).toBe(0)
    })
  })

  describe('reading the bound after every observation', () => {
    const RUNS = 5_000
    const OBSERVATIONS = 20_000
    /** 5 %, and three standard errors of the simulation itself. */
    const ALLOWED = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / RUNS)

    const MANY = 1e9
    const excluded: number[] = []

    /** Tells whether the bound is below `rate`. Its work is done once for each count of wrong observations. */
    function isBelow(rate: number, n: number, bad: number): boolean {
      excluded[bad] ??= upperBound({ n: MANY, bad }) * MANY
      return (excluded[bad] ?? 0) < rate * n
    }

    /** Tells whether the bound of one run is ever below the true rate, however often it is read. It falls until the next wrong one. */
    function isEverTooLow(rate: number, next: () => number): boolean {
      let n = 0
      for (let bad = 0; ; bad++) {
        // The number of clean observations before the next wrong one is geometric.
        n += Math.floor(Math.log1p(-next()) / Math.log1p(-rate))
        if (isBelow(rate, Math.min(n, OBSERVATIONS), bad)) return true
        n += 1
        if (n >= OBSERVATIONS) return false
      }
    }

    it.each([0.02, 0.005, 0.001, 0.0005])('covers a rate of %f in 95 of 100 runs', (rate) => {
      const next = seeded(4_711)
      let tooLow = 0
      for (let run = 0; run < RUNS; run++) if (isEverTooLow(rate, next)) tooLow += 1
      expect(tooLow / RUNS).toBeLessThanOrEqual(ALLOWED)
    })

    it('covers the average of a rate that follows what was seen', () => {
      const next = seeded(4_713)
      let tooLow = 0
      for (let run = 0; run < 1_000; run++) {
        let [bad, chances] = [0, 0]
        let clean = 0
        for (let n = 0; n < 2_000; n++) {
          // Whoever wants a low bound sends what is right for as long as nothing was wrong.
          const chance = clean < 300 ? 0.02 : 0.001
          if (n > 0 && isBelow(chances / n, n, bad)) {
            tooLow += 1
            break
          }
          const isBad = next() < chance
          chances += chance
          bad += isBad ? 1 : 0
          clean = isBad ? 0 : clean + 1
        }
      }
      expect(tooLow / 1_000).toBeLessThanOrEqual(ALLOWED)
    })

    it('is below the target in the end if v2 is good enough', () => {
      const next = seeded(4_712)
      let ready = 0
      for (let run = 0; run < RUNS; run++) {
        let bad = 0
        for (let n = 0; n < OBSERVATIONS; bad++) n += 1 + Math.floor(Math.log1p(-next()) / Math.log1p(-0.001))
        if (upperBound({ n: OBSERVATIONS, bad }) <= 0.01) ready += 1
      }
      expect(ready / RUNS).toBeGreaterThan(0.99)
    })
  })
})

describe('what is counted without records of its own', () => {
  const START = Date.UTC(2026, 0, 2)
  const OUTCOMES = ['match', 'match', 'match', 'expected', 'race', 'inconclusive', 'mismatch', 'transient', 'error'] as const

  function ledger(now: () => number) {
    return { evidence: createEvidence(now), inventory: createInventory([]), expected: createExpected([], now) }
  }

  function pick<T>(random: () => number, from: readonly T[]): T {
    return from[Math.floor(random() * from.length)] as T
  }

  function comparison(nth: number, at: number, random: () => number): Comparison {
    const weight = pick(random, [undefined, undefined, 20])
    const who = { caller: pick(random, ['a', 'b', 'c']), shape: pick(random, ['x', 'y']), ...(weight !== undefined && { weight }) }
    const known = { kind: 'comparison', id: `${nth}`, at: new Date(at).toISOString(), mode: 'diff-v1', check: 'read' } as const
    return {
      ...known,
      ...who,
      operation: pick(random, ['one', 'two']),
      outcome: pick(random, OUTCOMES),
      totals: [],
      examples: [],
      v2: { status: 200 },
    }
  }

  it('is no observation of its own if it is recorded for a new outcome of a pair', () => {
    const tallies = createTallies(
      createEvidence(() => START),
      { record() {} },
      () => START,
    )
    const seen = { operation: 'one', caller: 'a', shape: 'x' }
    expect(tallies.count({ ...seen, outcome: 'match' })).toEqual({ ...seen, outcome: 'match' })
    expect(tallies.count({ ...seen, outcome: 'match' })).toBeUndefined()
    expect(tallies.count({ ...seen, outcome: 'mismatch' })).toEqual({ ...seen, outcome: 'mismatch', repeat: true })
  })

  it('is read back with them: the evidence is the same', () => {
    const random = seeded(15)
    let now = START
    const live = ledger(() => now)
    const entries: Entry[] = []
    const record = (entry: Entry) => void entries.push(JSON.parse(JSON.stringify(entry)))
    const tallies = createTallies(live.evidence, { record }, () => now)
    for (let nth = 0; nth < 2_000; nth++) {
      now += Math.floor(random() * 20_000)
      if (random() < 0.2) tallies.uncompared(pick(random, ['one', 'two']), pick(random, ['perSecond', 'answerBytes']))
      const counted = tallies.count(comparison(nth, now, random))
      if (counted) record(counted)
      if (nth % 50 === 49) tallies.flush()
    }
    tallies.flush()
    tallies.flush()
    expect(entries.filter(({ kind }) => kind === 'comparison').length).toBeLessThan(1_900)
    const again = ledger(() => now)
    for (const entry of entries) restore(entry, again)
    // Only the time of the last comparison is that of the tally.
    const counted = ({ evidence }: typeof live) => evidence.all().map(({ lastAt, ...counts }) => counts)
    expect(counted(again)).toEqual(counted(live))
    expect(counted(live)).toHaveLength(2)
  })
})
