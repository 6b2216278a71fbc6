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
  /** Adds what other replicas observed in a time of which all is known. Its order does not matter. */
  heard(others: Sample): void
  /** True if the observations prove that the rate is above the allowed one. */
  isBeyond(): boolean
  /** True if they prove, at 95 %, that it is below. */
  isWithin(): boolean
  /** The run that speaks against v2; without observations if there is none. */
  run(): Sample
  state(): RateState
  /** What this process observed, since the watch was made. */
  own(): Sample
  /** Drops the counts. */
  restart(): void
}

interface Run extends Sample {
  /** It holds observations of other replicas. */
  readonly isShared: boolean
}

const NONE: Sample = { n: 0, bad: 0 }
const NOTHING: Run = { ...NONE, isShared: false }

/** The part of the wrong proofs that a run without the others may make, if there are others. */
const ALONE = 0.1

/**
 * Counts in two ways, because a rate changes when v2 is changed or breaks.
 * - The run speaks against v2. It begins with a bad observation and ends as soon as clean ones make up for it (odds of 1 or less).
 *   An hour of clean answers therefore excuses nothing. At most one run begins with each observation, and each proves an excess wrongly
 *   with probability 1/odds at most: at the allowed rate, at most one in `odds` observations does.
 *   (A CUSUM of e-processes: J. Shin, A. Ramdas, A. Rinaldo, "E-detectors", New Engl. J. Stat. Data Sci. 2 (2023) 229–260.)
 * - The rest speaks for v2. It begins anew when the share of bad ones in it reaches the allowed one.
 *
 * In a fleet, what others observed joins a run that an own observation began, so still at most one run begins with each observation.
 * A second run without the others finds what only this replica meets (docs/reference/evidence.md#11-circuits-of-a-fleet).
 */
export function createRateWatch({ allowed, odds }: RateSettings): RateWatch {
  /** The run of all replicas, and the run without the others. They are one as long as nothing of the others is in it. */
  let all = NOTHING
  let alone = NOTHING
  let seen = NONE
  let own = NONE
  const see = (more: Sample) => {
    seen = sum(seen, more)
    if (more.bad > 0 && seen.bad >= allowed * seen.n) seen = NONE
  }
  const grown = (run: Run, more: Sample, isShared = run.isShared): Run => {
    const next = { ...sum(run, more), isShared }
    return oddsOfExcess(next, allowed) <= 1 ? NOTHING : next
  }
  const neededOf = (run: Run) => (run !== all ? odds / ALONE : run.isShared ? odds / (1 - ALONE) : odds)
  const proves = (run: Run) => run.n > 0 && oddsOfExcess(run, allowed) >= neededOf(run)
  /** The run that tells most. */
  const told = () => (all.n === 0 || (proves(alone) && !proves(all)) ? alone : all)
  return {
    observe(isBad) {
      const one = isBad ? BAD : CLEAN
      own = sum(own, one)
      see(one)
      const wasOne = alone === all
      if (isBad || all.n > 0) all = grown(all, one)
      if (wasOne) alone = all
      else if (isBad || alone.n > 0) alone = grown(alone, one)
    },
    heard(others) {
      see(others)
      if (all.n > 0) all = grown(all, others, true)
    },
    isBeyond: () => proves(all) || proves(alone),
    isWithin: () => isWithin(seen, allowed),
    run: told,
    state() {
      const run = told()
      const needed = neededOf(run)
      const shown = { n: run.n, bad: run.bad, atLeast: lowerBound(run, needed), badNeeded: badNeeded(run, allowed, needed) }
      return { ...seen, allowed, atMost: upperBound(seen), cleanNeeded: cleanNeeded(seen, allowed), ...(run.n > 0 && { run: shown }) }
    },
    own: () => own,
    restart() {
      all = NOTHING
      alone = NOTHING
      seen = NONE
    },
  }
}

const CLEAN: Sample = { n: 1, bad: 0 }
const BAD: Sample = { n: 1, bad: 1 }

function sum(one: Sample, more: Sample): Sample {
  return { n: one.n + more.n, bad: one.bad + more.bad }
}
