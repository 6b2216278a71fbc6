import { describe, expect, it } from 'vitest'
import { cleanNeeded, isWithin, upperBound } from '../../../src/diff/evidence/bound.ts'
import { logGamma } from '../../../src/diff/evidence/log-beta.ts'
import { seeded } from '../../stage/seeded.ts'

describe('ln Γ', () => {
  it.each([
    [0.5, Math.log(Math.sqrt(Math.PI))],
    [1, 0],
    [5, Math.log(24)],
    [0.1, 2.252712651734206],
    [100, 359.1342053695754],
    [1e6, 12815504.569147611],
  ])('of %f is %f', (x, expected) => {
    expect(logGamma(x)).toBeCloseTo(expected, 6)
  })
})

describe('the 95 % upper bound', () => {
  it('is 1 while nothing is known, and falls with every clean observation', () => {
    expect(upperBound({ n: 0, bad: 0 })).toBe(1)
    const bounds = [1, 10, 100, 1_000, 10_000, 1_000_000].map((n) => upperBound({ n, bad: 0 }))
    expect(bounds).toEqual([...bounds].sort((a, b) => b - a))
    expect(bounds.at(-1)).toBeLessThan(5e-6)
  })

  it('lies above the observed rate, and approaches it', () => {
    for (const [n, bad] of [
      [10, 10],
      [1_000, 500],
      [100_000, 5_000],
      [100_000, 1],
    ] as const) {
      expect(upperBound({ n, bad })).toBeGreaterThanOrEqual(bad / n)
    }
    expect(upperBound({ n: 100_000, bad: 5_000 })).toBeLessThan(0.06)
  })

  it('needs under 4,000 clean observations for 0.1 % (a fixed sample needs 3,000)', () => {
    expect(cleanNeeded({ n: 0, bad: 0 }, 0.001)).toBeGreaterThan(2_995)
    expect(cleanNeeded({ n: 0, bad: 0 }, 0.001)).toBeLessThan(4_000)
  })

  it('reaches the target after exactly as many clean observations as it says', () => {
    for (const target of [0.2, 0.01, 0.001]) {
      for (const seen of [
        { n: 0, bad: 0 },
        { n: 50, bad: 1 },
        { n: 900, bad: 7 },
      ]) {
        const needed = cleanNeeded(seen, target)
        const boundWith = (more: number) => upperBound({ n: seen.n + more, bad: seen.bad })
        expect(boundWith(needed)).toBeLessThanOrEqual(target)
        if (needed > 0) expect(boundWith(needed - 1)).toBeGreaterThan(target)
      }
    }
    expect(cleanNeeded({ n: 1_000_000, bad: 0 }, 0.001)).toBe(0)
  })
})

describe('reading the bound after every request', () => {
  const RUNS = 10_000
  const REQUESTS = 20_000

  /** Tells whether a run with this true rate is ever promoted to `target`. It checks after every request. */
  function promoter(target: number) {
    /** By number of bad observations: the first count at which it would be promoted, as found by the functions under test. */
    const promotedAt: number[] = []
    const first = (bad: number) => (promotedAt[bad] ??= bad + cleanNeeded({ n: bad, bad }, target))
    return (rate: number, next: () => number) => {
      let n = 0
      for (let bad = 0; ; bad++) {
        // The number of clean observations before the next bad one is geometric.
        n += Math.floor(Math.log1p(-next()) / Math.log1p(-rate))
        if (Math.min(n, REQUESTS) >= first(bad)) return true
        n += 1
        if (n >= REQUESTS) return false
      }
    }
  }

  it.each([
    ['just outside', 0.01, 0.0101],
    ['twice the target', 0.01, 0.02],
    ['just outside', 0.001, 0.00101],
    ['far outside', 0.001, 0.01],
  ])('promotes at most one in twenty of 10,000 runs %s: target %f, rate %f', (_, target, rate) => {
    const isPromoted = promoter(target)
    const next = seeded(4_711)
    let wrong = 0
    for (let run = 0; run < RUNS; run++) if (isPromoted(rate, next)) wrong += 1
    expect(wrong / RUNS).toBeLessThanOrEqual(0.05)
  })

  it('promotes an operation that is good enough', () => {
    const isPromoted = promoter(0.01)
    const next = seeded(4_712)
    let right = 0
    for (let run = 0; run < RUNS; run++) if (isPromoted(0.001, next)) right += 1
    expect(right / RUNS).toBeGreaterThan(0.99)
  })

  it('keeps a promotion when more clean observations follow', () => {
    for (let bad = 0; bad < 30; bad++) {
      const first = bad + cleanNeeded({ n: bad, bad }, 0.01)
      for (let n = Math.max(bad, 1); n < first + 2_000; n += 7) expect(isWithin({ n, bad }, 0.01)).toBe(n >= first)
    }
  })
})
