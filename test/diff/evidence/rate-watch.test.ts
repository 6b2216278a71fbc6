import { describe, expect, it } from 'vitest'
import { CIRCUIT, createRateWatch } from '../../../src/migrate/evidence/circuit.ts'
import { seeded } from '../../stage/seeded.ts'

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
