import { describe, expect, it } from 'vitest'
import { badNeeded, CIRCUIT, createRateWatch, lowerBound, oddsOfExcess } from '../../../src/migrate/evidence/circuit.ts'
import { seeded } from '../../stage/seeded.ts'

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
    const wrong = Array.from({ length: WINDOWS }, () => untilBeyond(allowed, allowed / 10, next, ANSWERS)).filter((at) => at !== undefined)
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
