import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { upperBound } from '../../../src/migrate/evidence/evidence.ts'
import { boundOfWhole, moreOfWhole, type Part } from '../../../src/migrate/evidence/whole.ts'
import { seeded } from '../../stage/seeded.ts'

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
