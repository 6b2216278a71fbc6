import { standingOf } from '../../../src/migrate/evidence/standing.ts'
import type { Slice } from '../score/slice.ts'
import { createTally, type Tally } from '../score/tally.ts'
import { dayCases } from './day-cases.ts'
import { isTooLow, type RunSettings, runMigration } from './migration-run.ts'
import { type Simulation, wholeCases } from './whole-cases.ts'

const RUNS = 600
const REQUESTS = 20_000
const RATES = [0.02, 0.005, 0.001, 0.0005]
const TARGET = 0.001

/** 95 %, less three standard errors of the simulation itself. */
const COVERED = 0.95 - 3 * Math.sqrt((0.05 * 0.95) / RUNS)

/** Most callers and kinds of requests are rare, and a few make most of the traffic. */
const skewed = (count: number, random: () => number) => Math.floor(count * random() ** 3)
const next: RunSettings['next'] = (random) => ({ caller: `c${skewed(50, random)}`, shape: `s${skewed(40, random)}` })

/** Ways in which answers become wrong at a rate. */
const WAYS: Readonly<Record<string, (rate: number) => RunSettings['chanceOf']>> = {
  /** Each answer by itself, so that the next one is right. */
  'each by itself': (rate) => () => rate,
  /** For a part of the time, one answer in four. */
  'in bursts': (rate) => {
    let [isBad, left] = [false, 0]
    return (_, random) => {
      if (left <= 0) {
        isBad = random() < 4 * rate
        left = 400 * random()
      }
      left -= 1
      return isBad ? 0.25 : 0
    }
  },
}

/** Counts the runs in which a bound was too low at any look. A bound that covers the rate never says READY below it. */
function coverage(way: string, rate: number, seed: number, deadline: number): readonly Tally[] {
  const name = (stratum: string) => `${100 * rate} % of the answers wrong, ${way}: the bound of the ${stratum} covers it`
  const tallies = { observations: createTally(name('observations'), COVERED, RUNS), repeats: createTally(name('repeats'), COVERED, RUNS) }
  for (let run = 0; run < RUNS && performance.now() < deadline; run++) {
    const low = new Map<string, string>()
    runMigration({
      ...{ requests: REQUESTS, seed: seed + run, next, chanceOf: WAYS[way]?.(rate) ?? (() => 0) },
      look(seen) {
        for (const stratum of ['observations', 'repeats'] as const) {
          const { n, bad } = seen[stratum]
          if (isTooLow(seen[stratum])) low.set(stratum, `run ${run}: ${bad} wrong of ${n}`)
        }
      },
    })
    for (const stratum of ['observations', 'repeats'] as const) {
      const missed = low.get(stratum)
      if (missed === undefined) tallies[stratum].found += 1
      else tallies[stratum].missed.push(missed)
    }
  }
  return Object.values(tallies)
}

/** One busy caller sends 5 % of the requests and always gets a wrong answer; all others are right. */
function busyCaller(seed: number, deadline: number): Tally {
  const tally = createTally('5 % of the requests wrong, all of one caller: the share shows it, and nothing is READY', 1)
  for (let run = 0; run < RUNS / 10 && performance.now() < deadline; run++) {
    const evidence = runMigration({
      ...{ requests: REQUESTS, seed: seed + run },
      next: (random) => (random() < 0.05 ? { caller: 'busy', shape: 'poll' } : { caller: `c${Math.floor(1e6 * random())}`, shape: 's' }),
      chanceOf: ({ caller }) => (caller === 'busy' ? 1 : 0),
      look: () => {},
    })
    const isSeen = evidence && standingOf(evidence, TARGET) !== 'inside' && Math.abs(evidence.share - 0.05) < 0.02
    if (isSeen) tally.found += 1
    else tally.missed.push(`run ${run}: a share of ${evidence?.share}`)
  }
  return tally
}

/** Checks the claims of docs/facts/evidence.md on traffic that goes through the sampler and the evidence. */
export const statisticsSlice: Slice = {
  name: 'statistics',
  tries: 'the bound and the share of requests on simulated traffic, chosen and counted as a proxy does',
  only: 'chosen freely',
  async run({ seed, ms = Number.POSITIVE_INFINITY, only }) {
    const cases = RATES.flatMap((rate) => Object.keys(WAYS).map((way) => ({ rate, way })))
    // No two cases share their traffic.
    const seedOf = (nth: number) => 1_000_000 * seed + 10_000 * nth
    const all: readonly Simulation[] = [
      ...cases.map(({ rate, way }, nth) => ({
        name: `${100 * rate} % ${way}`,
        run: (deadline: number) => coverage(way, rate, seedOf(nth), deadline),
      })),
      { name: 'a busy caller', run: (deadline) => [busyCaller(seedOf(cases.length), deadline)] },
      ...wholeCases(seedOf(cases.length + 1)),
      ...dayCases(seedOf(cases.length + 20)),
    ]
    const chosen = all.filter(({ name }) => only?.test(name) ?? true)
    const began = performance.now()
    return chosen.flatMap(({ run }, nth) => run(began + (ms * (nth + 1)) / chosen.length))
  },
}
