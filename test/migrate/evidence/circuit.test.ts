import { describe, expect, it } from 'vitest'
import {
  badNeeded,
  CIRCUIT,
  createCircuit,
  createRateWatch,
  describeCircuit,
  describeOpening,
  lowerBound,
  type Opening,
  oddsOfExcess,
  readOpening,
} from '../../../src/migrate/evidence/circuit.ts'
import { seeded } from '../../stage/clocks.ts'

describe('circuit', () => {
  const OPERATION = 'registry.repos.list'

  function circuit({ isProbed = false } = {}) {
    const clock = { now: 1_000_000 }
    const made = createCircuit(
      () => clock.now,
      () => isProbed,
    )
    const turns: string[] = []
    const told = (state: { state: string } | undefined) => state && turns.push(state.state)
    const answers = (count: number, failed: boolean) => {
      for (let nth = 0; nth < count; nth++) told(made.observe(OPERATION, 'errors', failed))
    }
    const comparisons = (count: number, differed: boolean) => {
      for (let nth = 0; nth < count; nth++) told(made.observe(OPERATION, 'mismatches', differed))
    }
    return { ...made, answers, comparisons, turns, clock }
  }

  describe('the circuit of an operation', () => {
    it('says what it knows and what it lacks while too little is known', () => {
      const { state, answers, comparisons } = circuit()
      expect(state(OPERATION)).toMatchObject({ state: 'inconclusive', errors: { n: 0, bad: 0, atMost: 1, allowed: 0.05 } })
      answers(20, false)
      comparisons(10, false)
      const { reason, errors } = state(OPERATION)
      expect(reason).toMatch(
        /^INCONCLUSIVE: 0 of 20 answers failed, at most [\d.]+ % do \(allowed: 5 %, after \d+ more clean ones\); 0 of 10 comparisons differed, at most [\d.]+ % do \(allowed: 1 %, after \d+ more clean ones\)$/,
      )
      answers(errors.cleanNeeded, false)
      comparisons(state(OPERATION).mismatches.cleanNeeded - 1, false)
      expect(state(OPERATION)).toMatchObject({ state: 'inconclusive', errors: { cleanNeeded: 0 }, mismatches: { cleanNeeded: 1 } })
      comparisons(1, false)
      expect(state(OPERATION).state).toBe('closed')
    })

    it('stays shut after one bad answer, whatever else is known', () => {
      for (const before of [0, 1, 5, 50, 500]) {
        const { state, answers, comparisons, turns } = circuit()
        answers(before, false)
        comparisons(before, false)
        answers(1, true)
        comparisons(1, true)
        expect(turns).toEqual([])
        expect(state(OPERATION).reason).toMatch(/; 1 of the last 1 comparisons differed, 2 more in a row open the circuit$/)
      }
    })

    it.each([0, 10, 1_000, 1_000_000])('opens within a handful of answers once v2 always fails, after %i clean ones', (clean) => {
      const { state, answers, turns, isOpen, clock } = circuit()
      answers(clean, false)
      answers(3, true)
      expect(turns).toEqual([])
      answers(1, true)
      expect(turns).toEqual(['open'])
      expect(isOpen(OPERATION)).toBe(true)
      expect(state(OPERATION)).toMatchObject({
        state: 'open',
        openedAt: clock.now,
        reason: expect.stringMatching(
          /^errors: 4 of the last 4 answers failed, so at least [\d.]+ % do; 5 % is allowed, open since 1970-01-01T00:16:40\.000Z\. Only a person can close it$/,
        ),
      })
    })

    it('opens within a handful of comparisons once v2 always differs', () => {
      const { state, comparisons, turns } = circuit()
      comparisons(100, false)
      comparisons(2, true)
      expect(turns).toEqual([])
      comparisons(1, true)
      expect(state(OPERATION).reason).toMatch(/^mismatches: 3 of the last 3 comparisons differed, so at least [\d.]+ % do; 1 % is allowed/)
    })

    it('says how many more bad ones in a row open it', () => {
      const { state, comparisons, isOpen } = circuit()
      comparisons(1, true)
      comparisons(3, false)
      comparisons(1, true)
      const needed = state(OPERATION).mismatches.run?.badNeeded ?? 0
      comparisons(needed - 1, true)
      expect(isOpen(OPERATION)).toBe(false)
      comparisons(1, true)
      expect(isOpen(OPERATION)).toBe(true)
    })

    it('forgets a bad answer that enough clean ones follow', () => {
      const { state, answers } = circuit()
      answers(1, true)
      expect(state(OPERATION).errors.run).toMatchObject({ n: 1, bad: 1 })
      answers(200, false)
      expect(state(OPERATION).errors.run).toBeUndefined()
      expect(state(OPERATION).errors).toMatchObject({ n: 200, bad: 0 })
    })

    it('measures errors by answers and mismatches by comparisons', () => {
      const { state, answers, comparisons } = circuit()
      answers(10_000, false)
      comparisons(3, true)
      expect(state(OPERATION).state).toBe('open')
    })

    it('stays open without probes until a person closes it, and does not affect other operations', () => {
      const { state, answers, comparisons, isOpen, close, all } = circuit()
      answers(4, true)
      answers(10_000, false)
      comparisons(10_000, false)
      expect(state(OPERATION).state).toBe('open')
      expect(isOpen('iam.groups.list')).toBe(false)
      expect([...all().keys()]).toEqual([OPERATION])
      close(() => true)
      expect(state(OPERATION).state).toBe('inconclusive')
    })

    it('closes by probes once both rates are proven to be within their limits again', () => {
      const { state, answers, comparisons, turns } = circuit({ isProbed: true })
      answers(1_000, false)
      comparisons(1_000, false)
      answers(4, true)
      answers(100, true)
      expect(state(OPERATION).reason).toMatch(
        /5 % is allowed, open since \S+Z\. Since then: 0 of 0 answers failed, at most 100 % do \(allowed: 5 %, after \d+/,
      )
      answers(state(OPERATION).errors.cleanNeeded, false)
      expect(turns).toEqual(['open'])
      comparisons(state(OPERATION).mismatches.cleanNeeded - 1, false)
      expect(turns).toEqual(['open'])
      comparisons(1, false)
      expect(turns).toEqual(['open', 'closed'])
      expect(state(OPERATION)).toMatchObject({ state: 'closed' })
    })

    it('stays open while probes still show too many bad answers', () => {
      const { answers, comparisons, turns } = circuit({ isProbed: true })
      answers(4, true)
      for (let round = 0; round < 200; round++) {
        answers(9, false)
        comparisons(50, false)
        answers(1, true)
      }
      expect(turns).toEqual(['open'])
    })
  })

  describe('an opening', () => {
    const reason = 'errors: 4 of the last 4 answers failed; 5 % is allowed (opened by a-1)'
    const at = Date.UTC(2027, 2, 1, 12)

    it.each<Opening>([
      { at, reason },
      { at, reason, owner: 'rollout iam' },
      { at, reason, owner: 'the canary of iam.* registry.*.list and rollout a, open since 2026' },
    ])('is read again from what is told of it: %j', (opening) => {
      expect(readOpening(describeOpening(opening), 7)).toEqual(opening)
      for (const probed of [false, true]) {
        const { errors, mismatches } = circuit().state(OPERATION)
        const noted = describeCircuit({ state: 'open', errors, mismatches, opened: describeOpening(opening), probed })
        expect(readOpening(noted, 7)).toEqual(opening)
      }
    })

    it('of an older version told its reason alone', () => {
      expect(readOpening(`${reason}. Only a person can close it`, 7)).toEqual({ at: 7, reason })
      expect(readOpening(reason, 7)).toEqual({ at: 7, reason })
    })

    it('names the guardrail that v2 was too slow for', () => {
      const made = createCircuit(
        () => at,
        () => false,
        () => 'rollout iam',
      )
      made.slow(OPERATION, 'latency: 3 of the last 3')
      expect(made.whyOpen(OPERATION)).toBe('latency: 3 of the last 3, open since 2027-03-01T12:00:00.000Z for the guardrail of rollout iam')
    })
  })
})

describe('excess', () => {
  const { odds } = CIRCUIT
  const ALLOWED = [CIRCUIT.errors, CIRCUIT.mismatches]

  describe('the odds of an excess', () => {
    it('have a mean of 1 at most for every rate up to the allowed one', () => {
      for (const allowed of [0.0001, 0.01, 0.05, 0.5]) {
        for (const rate of [0, allowed / 2, allowed]) {
          const mean = rate * oddsOfExcess({ n: 1, bad: 1 }, allowed) + (1 - rate) * oddsOfExcess({ n: 1, bad: 0 }, allowed)
          expect(mean).toBeLessThanOrEqual(1 + 1e-12)
        }
      }
    })

    it('fall as the allowed share rises', () => {
      for (const seen of [
        { n: 1, bad: 1 },
        { n: 50, bad: 10 },
        { n: 500, bad: 3 },
      ]) {
        const falling = [0.001, 0.01, 0.1, 0.5, 0.9].map((allowed) => oddsOfExcess(seen, allowed))
        expect(falling).toEqual([...falling].sort((a, b) => b - a))
      }
    })
  })

  describe('the lower bound', () => {
    it('lies below the observed rate', () => {
      expect(lowerBound({ n: 10, bad: 0 }, odds)).toBe(0)
      expect(lowerBound({ n: 20, bad: 20 }, odds)).toBeGreaterThan(0.5)
      expect(lowerBound({ n: 100_000, bad: 5_000 }, odds)).toBeGreaterThan(0.03)
      expect(lowerBound({ n: 100_000, bad: 5_000 }, odds)).toBeLessThan(0.05)
    })

    it('passes the allowed share after exactly as many bad observations as it says', () => {
      for (const allowed of ALLOWED) {
        for (const seen of [
          { n: 1, bad: 1 },
          { n: 20, bad: 2 },
        ]) {
          const needed = badNeeded(seen, allowed, odds)
          const boundWith = (more: number) => lowerBound({ n: seen.n + more, bad: seen.bad + more }, odds)
          expect(boundWith(needed)).toBeGreaterThanOrEqual(allowed - 1e-8)
          expect(boundWith(needed - 1)).toBeLessThan(allowed)
        }
      }
    })
  })

  /** Observes at this rate until the excess is proven or `most` observations are made. Returns their number, or undefined. */
  function untilBeyond(allowed: number, rate: number, next: () => number, most: number): number | undefined {
    const watch = createRateWatch({ allowed, odds })
    for (let n = 1; n <= most; n++) {
      watch.observe(next() < rate)
      if (watch.isBeyond()) return n
    }
    return undefined
  }

  describe('a circuit that watches after every answer', () => {
    const WINDOWS = 10_000
    const ANSWERS = 100

    it.each(ALLOWED)('opens wrongly in at most 1 % of 10,000 windows of 100 answers at the allowed rate of %f', (allowed) => {
      const next = seeded(4_721)
      const wrong = Array.from({ length: WINDOWS }, () => untilBeyond(allowed, allowed, next, ANSWERS)).filter((at) => at !== undefined)
      // At most one observation in `odds` proves an excess wrongly: 100 of 10,000 windows of 100.
      expect(wrong.length / WINDOWS).toBeLessThanOrEqual(ANSWERS / odds)
    })

    it.each(ALLOWED)('never opens in 10,000 windows at a tenth of the allowed rate of %f', (allowed) => {
      const next = seeded(4_722)
      const wrong = Array.from({ length: WINDOWS }, () => untilBeyond(allowed, allowed / 10, next, ANSWERS)).filter(
        (at) => at !== undefined,
      )
      expect(wrong.length).toBeLessThanOrEqual(1)
    })

    it.each([
      [CIRCUIT.errors, 1, 4],
      [CIRCUIT.errors, 0.5, 20],
      [CIRCUIT.errors, 0.1, 1_000],
      [CIRCUIT.mismatches, 1, 3],
      [CIRCUIT.mismatches, 0.5, 10],
      [CIRCUIT.mismatches, 0.1, 120],
    ])('opens where %f is allowed and %f is bad after %i answers on average', (allowed, rate, most) => {
      const next = seeded(4_723)
      const opened = Array.from({ length: 200 }, () => untilBeyond(allowed, rate, next, 100_000) ?? Number.POSITIVE_INFINITY)
      const mean = opened.reduce((sum, n) => sum + n, 0) / opened.length
      expect(mean).toBeLessThanOrEqual(most)
    })
  })
})

describe('rate watch', () => {
  const { odds, errors: allowed } = CIRCUIT
  const watch = () => createRateWatch({ allowed, odds })

  describe('what other replicas saw', () => {
    it('continues a run and begins none', () => {
      const [alone, together] = [watch(), watch()]
      for (const one of [alone, together]) one.heard({ n: 3, bad: 3 })
      expect(alone.run().n).toBe(0)
      together.observe(true)
      together.heard({ n: 2, bad: 2 })
      expect([together.run(), together.isBeyond()]).toMatchObject([{ n: 3, bad: 3 }, false])
      together.heard({ n: 1, bad: 1 })
      expect(together.isBeyond()).toBe(true)
    })

    it('ends the common run by clean ones, and not what only this replica meets', () => {
      const one = watch()
      for (let at = 0; at < 5; at += 1) {
        expect(one.isBeyond()).toBe(false)
        one.observe(true)
        one.heard({ n: 1000, bad: 0 })
      }
      expect(one.isBeyond()).toBe(true)
      expect(one.state().run).toMatchObject({ n: 5, bad: 5, badNeeded: 0 })
    })

    it('counts for the proof that a rate is within, from the bad ones on', () => {
      const one = watch()
      one.heard({ n: 200, bad: 0 })
      expect(one.isWithin()).toBe(true)
      one.heard({ n: 40, bad: 20 })
      expect([one.isWithin(), one.state().n]).toEqual([false, 0])
    })
  })

  /**
   * Observes at a rate on several replicas in turn, which exchange their counts after every so many. Returns the number of observations until
   * one of them has proven the excess, or undefined.
   */
  function untilBeyond({ replicas, every, rate, next, most }: Simulated): number | undefined {
    const watches = Array.from({ length: replicas }, watch)
    let told = watches.map((one) => one.own())
    const exchange = () => {
      const own = watches.map((one) => one.own())
      const more = own.map(({ n, bad }, nth) => ({ n: n - (told[nth]?.n ?? 0), bad: bad - (told[nth]?.bad ?? 0) }))
      const all = more.reduce((sum, { n, bad }) => ({ n: sum.n + n, bad: sum.bad + bad }))
      for (const [nth, one] of watches.entries()) one.heard({ n: all.n - (more[nth]?.n ?? 0), bad: all.bad - (more[nth]?.bad ?? 0) })
      told = own
    }
    for (let n = 1; n <= most; n += 1) {
      watches[n % replicas]?.observe(next() < rate)
      if (replicas > 1 && n % every === 0) exchange()
      if (watches.some((one) => one.isBeyond())) return n
    }
    return undefined
  }

  interface Simulated {
    readonly replicas: number
    readonly every: number
    readonly rate: number
    readonly next: () => number
    readonly most: number
  }

  describe('replicas that count together', () => {
    const seed = 4_731

    it.each([4, 16])('open wrongly at most once in 10,000 answers of %i of them at the allowed rate', (replicas) => {
      const next = seeded(seed)
      const run = { replicas, every: 8, rate: allowed, next, most: 200 }
      const wrong = Array.from({ length: 500 }, () => untilBeyond(run)).filter((n) => n !== undefined).length
      // 500 · 200 answers, with 2 σ.
      expect(wrong).toBeLessThanOrEqual(10 + 2 * Math.sqrt(10))
    })

    it.each([1, 0.5, 0.2])('open as readily as one process if %f of the answers fail', (rate) => {
      const every = 8
      const mean = (replicas: number) => {
        const run = { replicas, every, rate, next: seeded(seed), most: 5000 }
        return Array.from({ length: 100 }, () => untilBeyond(run) ?? run.most).reduce((sum, n) => sum + n, 0) / 100
      }
      const [one, four, sixteen] = [1, 4, 16].map(mean) as [number, number, number]
      for (const several of [four, sixteen]) expect(several).toBeLessThanOrEqual(1.1 * one + every)
    })
  })
})
