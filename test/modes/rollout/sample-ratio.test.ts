import { describe, expect, it } from 'vitest'
import { createSampleRatio } from '../../../src/migrate/rollout/evidence.ts'
import { seeded } from '../../stage/seeded.ts'

const ODDS = 100_000

/** Sends callers of which this share gets the canary until the test proves another share. Returns their number, or undefined. */
function untilOff(share: number, real: number, next: () => number, { odds = ODDS, most = 10_000 } = {}): number | undefined {
  const ratio = createSampleRatio({ share, odds })
  for (let n = 1; n <= most; n++) {
    ratio.see(`caller ${n}`, next() < real)
    if (ratio.isOff()) return n
  }
  return undefined
}

function median(numbers: readonly (number | undefined)[]): number {
  return numbers.map((n) => n ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number
}

describe('the test of the share that callers got', () => {
  it.each([0.01, 0.1, 0.5, 1])('calls a right share of %f wrong in no more runs than its odds allow', (share) => {
    const next = seeded(4_731)
    const runs = Array.from({ length: 100 }, () => untilOff(share, share, next, { odds: 20, most: 1000 }))
    // At odds of 20 at most one run of 20, and three standard errors of the simulation itself.
    expect(runs.filter((n) => n !== undefined).length).toBeLessThanOrEqual(100 / 20 + 3 * Math.sqrt(100 * 0.05 * 0.95))
    expect(untilOff(share, share, next)).toBeUndefined()
  })

  it.each([
    [0.1, 0.5, 27],
    [0.1, 0, 117],
    [0.1, 0.2, 350],
    [0.01, 0, 1_177],
    [0.5, 0.6, 874],
    [1, 0.9, 218],
    [1, 0.5, 15],
  ])('finds that %f are configured and %f get it, after the callers of docs/facts/evidence.md', (share, real, callers) => {
    const next = seeded(4_732)
    const needed = median(Array.from({ length: 31 }, () => untilOff(share, real, next)))
    expect(needed / callers).toBeGreaterThan(0.8)
    expect(needed / callers).toBeLessThan(1.25)
  })

  it('takes a share within 2 % of the configured one for right', () => {
    const next = seeded(4_733)
    expect(untilOff(1, 0.985, next)).toBeUndefined()
    expect(untilOff(1, 0.9, next)).toBeDefined()
  })

  it('counts each caller once, and each request', () => {
    const ratio = createSampleRatio({ share: 0.1, odds: ODDS })
    for (let n = 0; n < 100; n++) ratio.see('a busy caller', true)
    ratio.see('another', false)
    ratio.see('a busy caller', false)
    expect(ratio.state()).toMatchObject({ callers: 2, got: 1, requests: { got: 100, other: 2 } })
    expect(ratio.isOff()).toBe(false)
  })

  it('tests the first 10,000 callers and no more', () => {
    const ratio = createSampleRatio({ share: 0.5, odds: ODDS })
    for (let n = 0; n < 10_000; n++) ratio.see(`caller ${n}`, n % 2 === 0)
    for (let n = 10_000; n < 12_000; n++) ratio.see(`caller ${n}`, false)
    expect(ratio.state()).toMatchObject({ callers: 10_000, got: 5_000, requests: { got: 5_000, other: 7_000 } })
    expect(ratio.isOff()).toBe(false)
  })

  it('says both shares and the number of callers, and when they are too few to tell', () => {
    const reasonAfter = (got: number, other: number) => {
      const ratio = createSampleRatio({ share: 0.1, odds: ODDS })
      for (let n = 0; n < got + other; n++) ratio.see(`caller ${n}`, n < got)
      return ratio.state().reason
    }
    expect(reasonAfter(0, 0)).toBe('no caller yet; 10 % of them are to get the canary')
    expect(reasonAfter(0, 1)).toBe('0 of 1 caller (0 %) got the canary, and 10 % are configured: too few callers to tell')
    expect(reasonAfter(11, 109)).toBe('11 of 120 callers (9.17 %) got the canary, and 10 % are configured')
    expect(reasonAfter(60, 60)).toBe(
      "60 of 120 callers (50 %) got the canary, and 10 % are configured: look for clients that another rule, a tester's header or the balancer sends elsewhere",
    )
  })
})
