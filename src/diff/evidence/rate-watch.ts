import { cleanNeeded, isWithin, type Sample, upperBound } from './bound.ts'
import { badNeeded, lowerBound, oddsOfExcess } from './excess.ts'

export interface RateSettings {
  /** Maximum share of bad ones, 0–1. */
  readonly allowed: number
  /**
   * Odds against the allowed share that prove an excess. At the allowed share, it is proven wrongly at most once in this many observations.
   */
  readonly odds: number
}

/** What is known of a rate. */
export interface RateState extends Sample {
  readonly allowed: number
  /** Upper end of the 95 % confidence sequence for the share of bad ones among these, 0–1. */
  readonly atMost: number
  /** Clean ones that are still needed to prove that the rate is within. */
  readonly cleanNeeded: number
  /** The run that speaks against v2, if there is one. */
  readonly run?: RunState
}

export interface RunState extends Sample {
  /** Share of bad ones that this run proves, 0–1. */
  readonly atLeast: number
  /** Bad ones in a row that are still needed to prove the excess. */
  readonly badNeeded: number
}

/** Watches one rate of an operation: the failures among its answers, or the differences among its comparisons. */
export interface RateWatch {
  observe(isBad: boolean): void
  /** True if the observations prove that the rate is above the allowed one. */
  isBeyond(): boolean
  /** True if they prove, at 95 %, that it is below. */
  isWithin(): boolean
  /** The run that speaks against v2; without observations if there is none. */
  run(): Sample
  state(): RateState
  /** Drops the counts. */
  restart(): void
}

const NOTHING: Sample = { n: 0, bad: 0 }

/**
 * Counts in two ways, because a rate changes when v2 is changed or breaks.
 * - The run speaks against v2. It begins with a bad observation and ends as soon as clean ones make up for it (odds of 1 or less).
 *   An hour of clean answers therefore excuses nothing. At most one run begins with each observation, and each proves an excess wrongly
 *   with probability 1/odds at most: at the allowed rate, at most one in `odds` observations does.
 *   (A CUSUM of e-processes: J. Shin, A. Ramdas, A. Rinaldo, "E-detectors", New Engl. J. Stat. Data Sci. 2 (2023) 229–260.)
 * - The rest speaks for v2. It begins anew when the share of bad ones in it reaches the allowed one.
 */
export function createRateWatch({ allowed, odds }: RateSettings): RateWatch {
  let run = NOTHING
  let seen = NOTHING
  return {
    observe(isBad) {
      seen = next(seen, isBad)
      if (isBad && seen.bad >= allowed * seen.n) seen = { n: 0, bad: 0 }
      if (!isBad && run.n === 0) return
      run = next(run, isBad)
      if (oddsOfExcess(run, allowed) <= 1) run = NOTHING
    },
    isBeyond: () => run.n > 0 && oddsOfExcess(run, allowed) >= odds,
    isWithin: () => isWithin(seen, allowed),
    run: () => run,
    state: () => ({
      ...seen,
      allowed,
      atMost: upperBound(seen),
      cleanNeeded: cleanNeeded(seen, allowed),
      ...(run.n > 0 && { run: { ...run, atLeast: lowerBound(run, odds), badNeeded: badNeeded(run, allowed, odds) } }),
    }),
    restart() {
      run = NOTHING
      seen = NOTHING
    },
  }
}

function next({ n, bad }: Sample, isBad: boolean): Sample {
  return { n: n + 1, bad: bad + (isBad ? 1 : 0) }
}
