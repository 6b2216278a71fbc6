import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEvidence, repeatOf } from '../../../src/migrate/evidence/evidence.ts'
import { createSampler, reservesOf, type Sampled, type Stock } from '../../../src/migrate/observe/observe.ts'
import { seeded, zipf } from '../../stage/clocks.ts'

const ROOM: Stock = { most: 100, left: () => 100, usedBy: () => 0 }

function sampler(perSecond: number, seed = 1, places = ROOM) {
  const clock = { now: 0 }
  const { choose, charge } = createSampler({ perSecond }, { now: () => clock.now, random: seeded(seed) }, places)
  const ask = (operation: string, caller: string, shape = operation) => choose({ user: operation, caller, shape: () => shape })
  return { clock, choose, charge, ask }
}

const isChosen = (choice: Sampled) => typeof choice !== 'string'

describe('the sampler', () => {
  it('chooses everything without a limit', () => {
    const { ask } = sampler(0)
    expect(Array.from({ length: 1_000 }, () => ask('a', 'one'))).toEqual(Array(1_000).fill({ weight: 1 }))
  })

  it('chooses no more than it may, at once and per second', () => {
    const { ask, clock } = sampler(100)
    let chosen = 0
    for (let nth = 0; nth < 100_000; nth++) {
      clock.now = nth / 10
      if (isChosen(ask(`operation-${nth % 7}`, `caller-${nth}`))) chosen += 1
    }
    expect(chosen).toBeGreaterThan(1_000)
    expect(chosen).toBeLessThanOrEqual(1_100)
  })

  it('goes by a limit that changes', () => {
    const live = { perSecond: 0 }
    const clock = { now: 0 }
    const { choose } = createSampler(live, { now: () => clock.now, random: seeded(1) }, ROOM)
    const chosen = () =>
      Array.from({ length: 100 }, (_, nth) => choose({ user: `u${nth % 7}`, caller: `${clock.now} ${nth}` })).filter(isChosen).length
    expect(chosen()).toBe(100)
    live.perSecond = 10
    clock.now = 1000
    expect(chosen()).toBeLessThanOrEqual(10)
    live.perSecond = 50
    clock.now = 3000
    expect(chosen()).toBeGreaterThan(20)
  })

  it('lets large answers cost as many comparisons as they have pieces of 64 KiB', () => {
    const { ask, charge, clock } = sampler(100)
    expect(ask('a', 'one')).toEqual({ weight: 1 })
    charge('a', 65_535)
    expect(ask('a', 'two')).toEqual({ weight: 1 })
    charge('a', 197 * 65_536)
    expect(ask('b', 'three')).toBe('perSecond')
    clock.now = 999
    expect(ask('b', 'three')).toBe('perSecond')
    clock.now = 1_010
    expect(ask('b', 'three')).toEqual({ weight: 1 })
  })

  it('chooses known pairs while half is unspent, then one in twenty', () => {
    const { ask, clock } = sampler(1_000)
    const choices = Array.from({ length: 20_000 }, () => {
      clock.now += 0.1
      return ask('a', 'one')
    })
    const weights = choices.flatMap((choice) => (isChosen(choice) ? [(choice as { weight: number }).weight] : []))
    expect(weights.filter((weight) => weight === 1).length).toBeLessThan(2_000)
    const stood = weights.reduce((sum, weight) => sum + weight, 0)
    expect(stood / choices.length).toBeCloseTo(1, 1)
    expect(new Set(choices.filter((choice) => typeof choice === 'string'))).toEqual(new Set(['repeat']))
  })

  it('takes a pair for new again after ten minutes and a little', () => {
    const { ask, clock } = sampler(2)
    expect(ask('a', 'one')).toEqual({ weight: 1 })
    clock.now = 599_000
    for (let nth = 0; nth < 100; nth++) ask('b', `other-${nth}`)
    expect(ask('a', 'one')).toBe('perSecond')
    clock.now = 700_000
    expect(ask('a', 'one')).toEqual({ weight: 1 })
  })

  it('leaves a rare operation its share, whatever a busy one asks', () => {
    const { ask, clock } = sampler(100)
    const chosen = { busy: 0, rare: 0 }
    for (let nth = 0; nth < 100_000; nth++) {
      clock.now = nth / 10
      if (isChosen(ask('busy', `caller-${nth}`))) chosen.busy += 1
      if (nth % 1_000 === 999 && isChosen(ask('rare', `caller-${nth}`))) chosen.rare += 1
    }
    expect(chosen.rare).toBe(100)
    expect(chosen.busy).toBeGreaterThan(900)
  })

  it('leaves a rare operation a place if the compared side is slow, and new pairs go first', () => {
    const waiting: string[] = []
    const places = { most: 100, left: () => 100 - waiting.length, usedBy: (id: string) => waiting.filter((one) => one === id).length }
    const { ask, clock } = sampler(0, 1, places)
    const chosen = { poll: 0, fresh: 0, rare: 0 }
    for (let nth = 0; nth < 20_000; nth++) {
      clock.now += 1
      // Twenty comparisons end in a second.
      if (nth % 50 === 0) waiting.shift()
      const [kind, operation, caller] =
        nth % 1_000 === 999
          ? (['rare', 'rare', `${nth}`] as const)
          : nth % 100 === 0
            ? (['fresh', 'busy', `${nth}`] as const)
            : (['poll', 'busy', 'one'] as const)
      if (!isChosen(ask(operation, caller))) continue
      chosen[kind] += 1
      waiting.push(operation)
    }
    expect(chosen.rare).toBe(20)
    expect(chosen.fresh).toBeGreaterThan(15)
    expect(chosen.poll + chosen.fresh + chosen.rare).toBeGreaterThan(400)
  })

  it('takes every write for new', () => {
    const { choose } = sampler(100)
    const choices = Array.from({ length: 50 }, () => choose({ user: 'iam.groups.update v1', caller: 'one' }))
    expect(choices).toEqual(Array(50).fill({ weight: 1 }))
  })
})

const reservesBy = (observed: ReadonlyMap<string, number>, traffic: ReadonlyMap<string, number>) =>
  reservesOf(new Map([...observed].map(([operation, n]) => [operation, { n }])), traffic)

describe('what an operation leaves to others', () => {
  const counts = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.record({ n: fc.nat(1e6), more: fc.nat(1e6) }), { minKeys: 2 })
  const maps = (all: Readonly<Record<string, { readonly n: number; readonly more: number }>>) => {
    const of = (count: (one: { readonly n: number; readonly more: number }) => number) =>
      new Map(Object.entries(all).map(([name, one]) => [name, count(one)]))
    return [of(({ n }) => n), of(({ n, more }) => n + more)] as const
  }

  it('is more for the one with more observations for its requests, at most a quarter, and nothing for the least known', () => {
    fc.assert(
      fc.property(counts, (all) => {
        const reserves = reservesBy(...maps(all))
        const known = Object.entries(all)
          .map(([name, { n, more }]) => ({ n, ratio: n / Math.max(1, n + more), part: reserves.get(name) ?? Number.NaN }))
          .sort((a, b) => a.ratio - b.ratio)
        expect(known[0]?.part).toBeLessThan(1e-9)
        for (const [nth, one] of known.entries()) {
          expect(one.part).toBeGreaterThanOrEqual(0)
          expect(one.part).toBeLessThan(0.25)
          if (one.n < 30) expect(one.part).toBe(0)
          else expect(one.part).toBeGreaterThanOrEqual((known[nth - 1]?.part ?? 0) - 1e-9)
        }
      }),
      { seed: 41 },
    )
  })

  it('depends on the shares of the requests alone, not on their number', () => {
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 1000 }), (all, times) => {
        const [observed, traffic] = maps(all)
        const busier = new Map([...traffic].map(([name, requests]) => [name, requests * times]))
        const same = [...observed.keys()].map((name) => [reservesBy(observed, traffic).get(name), reservesBy(observed, busier).get(name)])
        for (const [one, other] of same) expect(one).toBeCloseTo(other ?? Number.NaN, 9)
      }),
      { seed: 41 },
    )
  })

  /**
   * Requests of 45 operations by Zipf's law, 60 a second, of which 20 can be compared. Every request is of a new pair. The evidence about every
   * third operation was dropped after a day in which a third of all requests was observed.
   */
  function spread(isKnown: boolean) {
    const places = zipf(45)
    const [random, clock] = [seeded(45), { now: 0 }]
    const traffic = new Map(Array.from({ length: 45 }, (_, nth) => [`o${nth}`, Math.round(places.shareOf(nth) * 20_000)]))
    const observed = new Map([...traffic].map(([user, requests], nth) => [user, nth % 3 === 0 ? 0 : Math.round(requests / 3)]))
    let [readAt, reserves] = [-1_000, reservesBy(observed, traffic)]
    const reserve = (user: string) => {
      if (clock.now - readAt >= 1_000) [readAt, reserves] = [clock.now, reservesBy(observed, traffic)]
      return isKnown ? (reserves.get(user) ?? 0) : 0
    }
    const { choose } = createSampler({ perSecond: 20 }, { now: () => clock.now, random, reserve }, ROOM)
    let chosen = 0
    for (let nth = 0; nth < 60 * 900; nth++) {
      clock.now -= Math.log1p(-random()) * (1_000 / 60)
      const user = `o${places.draw(random)}`
      traffic.set(user, (traffic.get(user) ?? 0) + 1)
      if (!isChosen(choose({ user, caller: `${nth}` }))) continue
      chosen += 1
      observed.set(user, (observed.get(user) ?? 0) + 1)
    }
    const ratios = [...traffic].map(([user, requests]) => (observed.get(user) ?? 0) / requests)
    return { least: Math.min(...ratios), chosen }
  }

  it('lets those catch up of which less is known, with as many comparisons', () => {
    const [known, unknown] = [spread(true), spread(false)]
    expect(known.chosen).toBe(unknown.chosen)
    expect(known.least).toBeGreaterThan(1.25 * unknown.least)
  })
})

describe('the share of requests', () => {
  /** One of three operations is busy. One busy caller of it and one in a hundred of the others get wrong answers. */
  it('is estimated without bias from what is chosen', () => {
    const shares = Array.from({ length: 40 }, (_, run) => {
      const { ask, clock } = sampler(2, run)
      const random = seeded(1_000 + run)
      const evidence = createEvidence(() => clock.now)
      let wrong = 0
      for (let nth = 0; nth < 4_000; nth++) {
        clock.now += 100
        const caller = random() < 0.3 ? 'busy' : `c${Math.floor(20 * random())}`
        const isWrong = random() < (caller === 'busy' ? 0.2 : 0.01)
        wrong += isWrong ? 1 : 0
        const chosen = ask('a', caller)
        if (typeof chosen === 'string') continue
        const observation = { operation: 'a', caller, shape: 'a', outcome: isWrong ? 'mismatch' : 'match', ...chosen } as const
        if (!evidence.observe(observation)) evidence.add('a', { repeats: repeatOf(observation) })
      }
      return [wrong / 4_000, evidence.of('a')?.share ?? 0] as const
    })
    const mean = (at: 0 | 1) => shares.reduce((sum, share) => sum + share[at], 0) / shares.length
    expect(mean(1) / mean(0)).toBeGreaterThan(0.9)
    expect(mean(1) / mean(0)).toBeLessThan(1.1)
  })
})

describe('5,040 mixed requests of 14 operations in twelve seconds', () => {
  /**
   * Each second begins with the polls of five callers, one operation after the other. Then others ask: one kind of request each, once.
   * 4,200 requests are polls of 70 pairs, and 840 are pairs that come once.
   */
  function* requests() {
    for (let second = 0; second < 12; second++) {
      let nth = 0
      for (let poll = 0; poll < 5; poll++) {
        for (let operation = 0; operation < 14; operation++) {
          for (let caller = 0; caller < 5; caller++)
            yield { at: second * 1_000 + nth++ / 10, operation: `o${operation}`, caller: `c${caller}` }
        }
      }
      for (let rare = 0; rare < 70; rare++)
        yield { at: second * 1_000 + nth++ / 10, operation: `o${rare % 14}`, caller: `r${second}-${rare}` }
    }
  }

  function observed(choose: (request: { at: number; operation: string; caller: string }) => boolean) {
    const pairs = new Set<string>()
    const byOperation = new Map<string, number>()
    let comparisons = 0
    for (const request of requests()) {
      if (!choose(request)) continue
      comparisons += 1
      byOperation.set(request.operation, (byOperation.get(request.operation) ?? 0) + 1)
      pairs.add(`${request.operation} ${request.caller}`)
    }
    return {
      comparisons,
      observations: pairs.size,
      least: Math.min(...byOperation.values(), byOperation.size < 14 ? 0 : Number.POSITIVE_INFINITY),
    }
  }

  it('gives more than five times the observations that the order of arrival gave', () => {
    let left = 100
    let filled = 0
    const before = observed(({ at }) => {
      left = Math.min(100, left + (at - filled) / 10)
      filled = at
      if (left < 1) return false
      left -= 1
      return true
    })
    const { ask, clock } = sampler(100)
    const after = observed(({ at, operation, caller }) => {
      clock.now = at
      return isChosen(ask(operation, caller))
    })
    expect([before, after]).toMatchInlineSnapshot(`
      [
        {
          "comparisons": 1204,
          "least": 60,
          "observations": 82,
        },
        {
          "comparisons": 1204,
          "least": 45,
          "observations": 499,
        },
      ]
    `)
    expect(after.observations).toBeGreaterThan(5 * before.observations)
    expect(after.comparisons).toBeLessThanOrEqual(before.comparisons)
  })
})
