import { describe, expect, it } from 'vitest'
import { cleanNeeded, upperBound } from '../../../src/migrate/evidence/evidence.ts'
import { seeded } from '../../stage/seeded.ts'

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
