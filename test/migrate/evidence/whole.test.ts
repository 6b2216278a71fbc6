import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { type CutoverQuestion, judgeCutover } from '../../../src/migrate/evidence/cutover.ts'
import { createEvidence, upperBound } from '../../../src/migrate/evidence/evidence.ts'
import type { UncomparedCounts } from '../../../src/migrate/evidence/standing.ts'
import { boundOfWhole, moreOfWhole, type Part } from '../../../src/migrate/evidence/whole.ts'
import { seeded } from '../../stage/clocks.ts'
import { operations } from '../given.ts'

describe('evidence, whole', () => {
  const part = fc
    .record({
      requests: fc.integer({ min: 0, max: 100_000 }),
      n: fc.integer({ min: 0, max: 5000 }),
      wrong: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ requests, n, wrong }): Part => ({ requests: requests + n, seen: { n, bad: Math.floor(n * wrong ** 6) } }))
  const parts = fc.array(part, { minLength: 1, maxLength: 45 })

  const RUNS = { numRuns: 300, seed: 41 }
  const ULP = 1 + 1e-9

  const holds = (
    ...[name, arbitrary, check]: [string, fc.Arbitrary<readonly Part[]>, (all: readonly Part[], random: () => number) => void]
  ) =>
    it(name, () => {
      fc.assert(
        fc.property(arbitrary, fc.integer(), (all, seed) => check(all, seeded(seed))),
        RUNS,
      )
    })

  const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)

  describe('the bound of all operations together', () => {
    it('is 1 while nothing is known', () => {
      expect(boundOfWhole([])).toBe(1)
      expect(boundOfWhole([{ requests: 7, seen: { n: 0, bad: 0 } }])).toBe(1)
    })

    it('counts what was never observed as wrong, by its requests', () => {
      const known = { requests: 999_000, seen: { n: 1e9, bad: 0 } }
      expect(boundOfWhole([known, { requests: 1000, seen: { n: 0, bad: 0 } }])).toBeCloseTo(0.001, 7)
    })

    it('needs some 3,282 observations of 45 operations together, where each alone needs as many', () => {
      const spread = (n: number) => Array.from({ length: 45 }, (): Part => ({ requests: 1000, seen: { n: n / 45, bad: 0 } }))
      expect(boundOfWhole(spread(3_282))).toBeLessThanOrEqual(0.001)
      expect(boundOfWhole(spread(3_200))).toBeGreaterThan(0.001)
      expect(moreOfWhole(spread(0), 0.001)).toBeGreaterThan(3_200)
      expect(moreOfWhole(spread(0), 0.001)).toBeLessThan(3_300)
    })

    holds('is that of the operation if there is one', parts, ([one]) => {
      if (!one || one.requests === 0) return
      expect(boundOfWhole([one])).toBeCloseTo(upperBound(one.seen), 9)
    })

    holds('is at least what was observed to be wrong', parts, (all) => {
      const requests = sum(all.map((one) => one.requests))
      if (requests === 0) return
      const observed = sum(all.map(({ requests: its, seen }) => (seen.n === 0 ? 0 : (its * seen.bad) / seen.n)))
      expect(boundOfWhole(all) * ULP).toBeGreaterThanOrEqual(observed / requests)
    })

    holds('is at least the share of every choice of chances that the observations do not exclude', parts, (all, random) => {
      const requests = sum(all.map((one) => one.requests))
      if (requests === 0) return
      const MANY = 1e9
      const allowed = upperBound({ n: MANY, bad: sum(all.map(({ seen }) => seen.bad)) }) * MANY
      for (let nth = 0; nth < 20; nth++) {
        let left = allowed
        const share = [...all]
          .sort(() => random() - 0.5)
          .map(({ requests: its, seen }) => {
            const chances = Math.min(seen.n, left) * (random() < 0.5 ? 1 : random())
            left -= chances
            return seen.n === 0 ? its : (its * chances) / seen.n
          })
        expect(boundOfWhole(all) * ULP).toBeGreaterThanOrEqual(sum(share) / requests)
      }
    })

    /** Every order of the parts. */
    const orders = <T>(all: readonly T[]): readonly (readonly T[])[] =>
      all.length === 0 ? [[]] : all.flatMap((one, at) => orders(all.toSpliced(at, 1)).map((rest) => [one, ...rest]))

    const few = fc.array(part, { minLength: 1, maxLength: 5 })
    holds('is the largest share that any order gives, in which the chances fill one operation after the other', few, (all) => {
      const requests = sum(all.map((one) => one.requests))
      if (requests === 0) return
      const MANY = 1e9
      const allowed = upperBound({ n: MANY, bad: sum(all.map(({ seen }) => seen.bad)) }) * MANY
      const shareOf = (order: readonly Part[]) => {
        let left = allowed
        const wrong = order.map(({ requests: its, seen: { n } }) => {
          const chances = Math.min(n, left)
          left -= chances
          return n === 0 ? its : (its * chances) / n
        })
        return sum(wrong) / requests
      }
      expect(boundOfWhole(all)).toBeCloseTo(Math.max(...orders(all).map(shareOf)), 9)
    })

    holds('rises with a wrong observation, and falls with a clean one', parts, (all, random) => {
      const at = Math.floor(random() * all.length)
      const changed = (change: (seen: Part['seen']) => Part['seen']) =>
        all.map((one, nth) => (nth === at ? { requests: one.requests, seen: change(one.seen) } : one))
      expect(boundOfWhole(changed(({ n, bad }) => ({ n: n + 1, bad }))) / ULP).toBeLessThanOrEqual(boundOfWhole(all))
      expect(boundOfWhole(changed(({ n, bad }) => ({ n, bad: bad + 1 }))) * ULP).toBeGreaterThanOrEqual(boundOfWhole(all))
    })

    holds('depends neither on the order nor on the unit of the requests', parts, (all, random) => {
      const other = [...all].sort(() => random() - 0.5).map(({ requests, seen }) => ({ requests: 7 * requests, seen }))
      expect(boundOfWhole(other)).toBeCloseTo(boundOfWhole(all), 9)
    })

    holds('reaches the target after as many further observations as it says', parts, (all) => {
      const requests = sum(all.map((one) => one.requests))
      if (requests === 0) return
      const target = 0.01
      const more = moreOfWhole(all, target)
      const grownBy = (amount: number) =>
        all.map((one) => ({ ...one, seen: { n: one.seen.n + (amount * one.requests) / requests, bad: one.seen.bad } }))
      expect(boundOfWhole(grownBy(more))).toBeLessThanOrEqual(target)
      if (more > 0) expect(boundOfWhole(grownBy(0.99 * more - 2))).toBeGreaterThan(target)
    })
  })

  describe('reading the bound of the whole after every observation', () => {
    const RUNS_EACH = 400
    /** 5 %, and two standard errors of the simulation itself. */
    const MISSED = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / RUNS_EACH)
    const OPERATIONS = 8
    const shares = Array.from({ length: OPERATIONS }, (_, nth) => 2 ** -nth)

    /** Runs in which the bound was ever below the share of wrong answers in the requests. */
    function missed(chanceOf: (operation: number) => number): number {
      let count = 0
      for (let run = 0; run < RUNS_EACH; run++) {
        const random = seeded(run)
        const seen = shares.map(() => ({ n: 0, bad: 0 }))
        const bySum = (values: readonly number[]) => sum(values) / sum(shares)
        const truth = bySum(shares.map((share, nth) => share * chanceOf(nth)))
        for (let nth = 0; nth < 400; nth++) {
          // Rare operations are observed as often as busy ones: what is chosen does not follow the requests.
          const operation = Math.floor(random() * OPERATIONS)
          const one = seen[operation] as { n: number; bad: number }
          one.n += 1
          if (random() < chanceOf(operation)) one.bad += 1
          if (nth % 5 > 0) continue
          if (boundOfWhole(shares.map((requests, its) => ({ requests, seen: seen[its] as { n: number; bad: number } }))) < truth) {
            count += 1
            break
          }
        }
      }
      return count / RUNS_EACH
    }

    it.each([
      ['everywhere', () => 0.1],
      ['in the busiest operation', (operation: number) => (operation === 0 ? 0.1 : 0)],
      ['in the rarest operation', (operation: number) => (operation === OPERATIONS - 1 ? 0.9 : 0)],
    ])('covers the share of wrong answers that lie %s', (_, chanceOf) => {
      expect(missed(chanceOf)).toBeLessThanOrEqual(MISSED)
    })

    interface Drawn {
      requests: number
      n: number
      bad: number
      /** The sum of the chances of its observations. */
      chances: number
    }

    /**
     * Runs in which the bound was ever below the share that is wrong in the requests that came: their shares are counted, and change in the
     * middle. Half of the requests of the rarest operations are observed, and fewer of the others. `chanceOf` knows all that was counted before.
     */
    function missedByCounting(chanceOf: (all: readonly Drawn[], operation: number) => number): number {
      let count = 0
      for (let run = 0; run < RUNS_EACH; run++) {
        const random = seeded(10_000 + run)
        const all = shares.map((): Drawn => ({ requests: 0, n: 0, bad: 0, chances: 0 }))
        for (let nth = 0; nth < 800; nth++) {
          const drawn = Math.min(OPERATIONS - 1, Math.floor(-Math.log2(1 - random())))
          const operation = nth < 400 ? drawn : OPERATIONS - 1 - drawn
          const one = all[operation] as Drawn
          one.requests += 1
          if (random() < 0.1 + 0.4 * (operation / OPERATIONS)) {
            const chance = chanceOf(all, operation)
            one.n += 1
            one.chances += chance
            if (random() < chance) one.bad += 1
          }
          if (nth % 5 > 0) continue
          const truth = sum(all.map(({ requests, n, chances }) => (n === 0 ? 0 : (requests * chances) / n))) / (nth + 1)
          if (boundOfWhole(all.map(({ requests, n, bad }) => ({ requests, seen: { n, bad } }))) < truth) {
            count += 1
            break
          }
        }
      }
      return count / RUNS_EACH
    }

    /** The operation whose observations stand for the most requests. */
    const weakest = (all: readonly Drawn[]) => {
      const standsFor = ({ requests, n }: Drawn) => requests / Math.max(1, n)
      return all.indexOf(all.reduce((worst, one) => (standsFor(one) > standsFor(worst) ? one : worst)))
    }

    it.each([
      ['everywhere', () => 0.1],
      [
        'in the operation that is rare first and busy then',
        (_: readonly Drawn[], operation: number) => (operation === OPERATIONS - 1 ? 0.5 : 0),
      ],
      ['where the bound is weakest at that time', (all: readonly Drawn[], operation: number) => (operation === weakest(all) ? 0.3 : 0)],
      ['everywhere, as long as none was seen', (all: readonly Drawn[]) => (all.every(({ bad }) => bad === 0) ? 0.05 : 0.002)],
    ])('covers, by the requests that came, the share of wrong answers that lie %s', (_, chanceOf) => {
      expect(missedByCounting(chanceOf)).toBeLessThanOrEqual(MISSED)
    })
  })
})

describe('the cutover of all requests together', () => {
  const LIST = 'registry.repos.list'
  const RARE = 'iam.groups.list'
  const WRITE = 'iam.groups.create'
  const HOUR = 3_600_000

  interface Seen {
    readonly operation: string
    readonly counts: readonly (readonly [count: number, outcome?: ComparisonOutcome])[]
    readonly callers?: number
    readonly uncompared?: UncomparedCounts
  }

  /** Evidence of observations that came within the last ten hours. */
  function evidenceOf(all: readonly Seen[]) {
    const evidence = createEvidence(() => 10 * HOUR)
    for (const { operation, counts, callers = 2, uncompared } of all) {
      for (const [count, outcome = 'match'] of counts) {
        for (let nth = 0; nth < count; nth++) {
          // Each kind of request comes four times, from callers by turns.
          const kinds = Math.min(100, Math.max(1, Math.floor(count / 4)))
          const caller = `c${Math.floor(nth / kinds) % callers}`
          const observation = { operation, caller, shape: `${operation}?${outcome}=${nth % kinds}`, outcome }
          evidence.observe(observation, (10 * HOUR * nth) / count)
        }
      }
      if (uncompared) evidence.add(operation, { uncompared })
    }
    return evidence.all()
  }

  const clients = ['a', 'b'].map((caller) => ({ caller, operations: [LIST, RARE, WRITE].map((operation) => ({ operation, calls: 1 })) }))

  function judge(all: readonly Seen[], traffic: Record<string, number>, members: Partial<CutoverQuestion> = {}) {
    const seen = { evidence: evidenceOf(all), traffic: new Map(Object.entries(traffic)), clients }
    return judgeCutover({ target: 0.01, withoutV1: false, ...seen, operations, ...members })
  }

  const BUSY: Seen = { operation: LIST, counts: [[1_000]] }
  const TRAFFIC = { [LIST]: 100_000, [RARE]: 5 }

  it('is never ready while v2 is wrong for one client, however few its requests are', () => {
    const evidence = createEvidence(() => 10 * HOUR)
    const observe = (caller: string, outcome: ComparisonOutcome, at: number) =>
      evidence.observe({ operation: LIST, caller, shape: `${LIST}?limit=small`, outcome }, at)
    observe('one', 'mismatch', 0)
    for (let nth = 0; nth < 3_000; nth++) observe(`c${nth}`, 'match', 1 + nth)
    const verdict = () => judge([], { [LIST]: 3_001 }, { evidence: evidence.all() })
    expect(verdict().whole?.isInside).toBe(true)
    expect(verdict()).toMatchObject({ ready: false, reasons: [expect.stringContaining('wrong to client one at its last comparison')] })
    observe('one', 'match', HOUR)
    expect(verdict().ready).toBe(true)
  })

  it('tells no time from what a job called once, and tells it when the job has come again', () => {
    const evidence = createEvidence(() => 0)
    const observe = (operation: string, kind: number, at: number) =>
      evidence.observe({ operation, caller: 'job', shape: `${operation}?limit=k${kind}`, outcome: 'match' }, at)
    const daysAt = (hour: number) => {
      for (let nth = 4 * hour - 90; nth < 4 * hour; nth++) if (nth >= 0) observe(LIST, nth % 4, (nth * HOUR) / 4)
      return judge([], { [LIST]: 100_000, [RARE]: 8 }, { evidence: evidence.all(), clients: [], target: 0.1 }).whole?.days
    }
    // Four kinds within ten minutes.
    for (let nth = 0; nth < 8; nth++) observe(RARE, nth % 4, 2 * HOUR + nth * 100_000)
    expect([3, 6, 12, 20, 25].map(daysAt)).toEqual([undefined, undefined, undefined, undefined, undefined])
    for (let nth = 0; nth < 8; nth++) observe(RARE, nth % 4, 26 * HOUR + nth * 100_000)
    expect(daysAt(27)).toBeGreaterThan(0.4)
    expect(daysAt(27)).toBeLessThan(1.1)
  })

  it('is ready although a rare operation alone could not be', () => {
    const all = [BUSY, { operation: RARE, counts: [[3]] }] as const
    const { ready, whole, reasons } = judge(all, TRAFFIC)
    expect({ ready, inside: whole?.isInside }).toEqual({ ready: true, inside: true })
    expect(reasons).toEqual([
      expect.stringMatching(
        /^At most 0\.328 % of 100,005 requests get something wrong, at 95 % confidence, by 1,003 observations of 2 operations\.$/,
      ),
    ])
    expect(judge(all, TRAFFIC, { isStrict: true }).ready).toBe(false)
  })

  it('is not ready while the observations of all are too few, and says how many more', () => {
    const { ready, whole, reasons } = judge(
      [
        { operation: LIST, counts: [[100]] },
        { operation: RARE, counts: [[3]] },
      ],
      TRAFFIC,
    )
    expect(ready).toBe(false)
    expect(whole?.needed).toBeGreaterThan(200)
    expect(whole?.needed).toBeLessThan(240)
    expect(reasons).toEqual([
      expect.stringMatching(/^All together: up to 3\.28 % of 100,005 requests may be wrong after 103 obs.+; \d+ more clean/),
    ])
    expect(whole?.when).toBe(
      '2 of 2 operations are ready. At this traffic, all are ready in about 23 hours, if every further observation is clean and the shares of the operations stay.',
    )
  })

  it('weighs an operation that was never compared, and names it first if it has the most requests', () => {
    const { ready, reasons, whole } = judge([BUSY], { [LIST]: 900, [RARE]: 1_000 })
    expect(ready).toBe(false)
    expect(whole?.bound).toBeGreaterThan(0.5)
    expect(reasons[0]).toBe('iam.groups.list had 1,000 requests and no comparison: put it into a diff mode.')
  })

  it.each([
    ['seen too rarely', { operation: RARE, counts: [[2]] }, /seen the same 2 times; at least 3 are asked for/],
    ['of which one caller only was compared', { operation: RARE, counts: [[5]], callers: 1 }, /only one of its callers was compared/],
    ['that fails once a day', { operation: RARE, counts: [[5], [1, 'error']] }, /OUTSIDE: 1 error; /],
    ['with one difference that did not come again', { operation: RARE, counts: [[50], [1, 'transient']] }, /1 transient difference/],
    [
      'with more unknown uses than 1 %',
      { operation: RARE, counts: [[500]], uncompared: { gone: 9 } },
      /could not be compared; at most 1 % may be unknown/,
    ],
    [
      'that v2 never wrote',
      { operation: WRITE, counts: [[500]], uncompared: { untried: 500 } },
      /v2 has never been seen to write this; give it a share: crosswalk rollouts iam\.groups\.create start\./,
    ],
    [
      'that v2 wrote in races alone',
      { operation: WRITE, counts: [[5], [5, 'race']], uncompared: { untried: 5, undecided: 5 } },
      /v2 has never been seen to write this; .* 5 requests wrote to v2, and nothing was learnt of what v2 did\./,
    ],
    [
      'that v2 wrote once',
      { operation: WRITE, counts: [[500]], uncompared: { untried: 499 } },
      /to write this in 1 observation; 2 more are asked for/,
    ],
  ] as readonly [string, Seen, RegExp][])('is not ready with an operation %s', (_, one, reason) => {
    const verdict = judge([BUSY, one], { [LIST]: 100_000, [one.operation]: 5 })
    expect(verdict).toMatchObject({ ready: false, reasons: [expect.stringMatching(reason)], whole: { isInside: true } })
  })

  it('is not ready with a kind of request that nobody saw work, and names those with the most requests first', () => {
    const kinds = (...all: readonly (readonly [shape: string, samples: number])[]) => all.map(([shape, samples]) => ({ shape, samples }))
    const requests = kinds([`${RARE}?limit=small`, 9], [`${RARE}?name=text`, 90])
    const operations = [
      { operation: LIST, calls: 1 },
      { operation: RARE, calls: 99, requests },
    ]
    const seen = [BUSY, { operation: RARE, counts: [[50]] }] as const
    const verdict = judge(seen, { [LIST]: 100_000, [RARE]: 99 }, { clients: [{ caller: 'a', operations }] })
    expect(verdict.ready).toBe(false)
    expect(verdict.whole?.isInside).toBe(true)
    expect(verdict.operations.find(({ operation }) => operation === RARE)?.missing).toEqual([
      { kind: 'name=text', requests: 90, same: 0, why: 'rare' },
      { kind: 'limit=small', requests: 9, same: 0, why: 'rare' },
    ])
    expect(verdict.reasons[0]).toMatch(
      /^iam\.groups\.list: INCONCLUSIVE, because 2 kinds .*: name=text \(90 requests, seen the same 0 of 3 times\), /,
    )
  })

  it('is not ready with an operation that v2 alone refused too often', () => {
    const one = { operation: WRITE, counts: [[500]], uncompared: { writeRefused: 9 } } as const
    expect(judge([BUSY, one], { [LIST]: 100_000, [WRITE]: 5 })).toMatchObject({
      ready: false,
      reasons: [
        expect.stringMatching(
          /as 9 requests wrote and were refused by v2, .*: give diff-v1 a share, so that v1's own refusals are known\.$/,
        ),
        expect.stringMatching(/^All together: up to/),
      ],
    })
  })

  it('counts of a write only what v2 itself wrote', () => {
    const write: Seen = { operation: WRITE, counts: [[1_000]], uncompared: { untried: 990 } }
    expect(judge([BUSY, write], { [LIST]: 1_000, [WRITE]: 1_000 })).toMatchObject({ ready: false, whole: { observations: 1_010 } })
  })

  it('is not ready with an open circuit or a rollout that turned back', () => {
    expect(judge([BUSY], TRAFFIC, { openCircuits: new Map([[LIST, 'it opened']]) }).ready).toBe(false)
    const back = { name: 'repos', reach: [LIST], phase: 'turned-back', percent: 0, reason: 'the circuit opened' }
    expect(judge([BUSY], { [LIST]: 100_000 }, { rollouts: [back] }).ready).toBe(false)
    expect(judge([BUSY], { [LIST]: 100_000 }).ready).toBe(true)
  })

  it('is not ready without v1 while only v1 answers something', () => {
    const traffic = { [LIST]: 100_000, 'registry.vuln_reports.list': 1 }
    expect(judge([BUSY], traffic)).toMatchObject({ ready: true, whole: { requests: 100_000 } })
    expect(judge([BUSY], traffic, { withoutV1: true }).ready).toBe(false)
  })

  it('is not ready without traffic', () => {
    expect(judge([], {})).toMatchObject({ ready: false, reasons: ['No v1 request was seen yet: nothing is known.'] })
  })

  it('cannot tell when it is done while an operation has no pace', () => {
    const { whole } = judge([BUSY], { [LIST]: 900, [RARE]: 1_000 })
    expect(whole?.when).toMatch(
      /^1 of 2 operations is ready\. crosswalk rehearse may do 1 of the others now\. It is not known when all will be/,
    )
  })
})
