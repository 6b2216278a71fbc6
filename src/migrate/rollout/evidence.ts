import { COLLAPSE, count, createCollapse, many, type Observation, percent, type Sample, WEIGHTS } from '../evidence/evidence.ts'
import type { RolloutView, StepCounts } from './machine.ts'
import { MOST_ROLLOUTS } from './plan.ts'
import type { NewsOfStep } from './run.ts'

export interface RatioSettings {
  /** The configured share of callers, more than 0 and at most 1. */
  readonly share: number
  /** Odds that prove another share: a right one is called wrong with probability 1/odds at most, however often one looks. */
  readonly odds: number
}

/** The callers of one step of a rollout, and how many of them the canary's side really answered. */
export interface RatioState {
  /** Distinct callers. Counting stops at `MOST`. */
  readonly callers: number
  /** Those whose first request the canary got. */
  readonly got: number
  /** The configured share, 0–1. */
  readonly share: number
  /** Requests by side. They are not tested, because callers differ in volume. */
  readonly requests: { readonly got: number; readonly other: number }
  /** True if the callers prove another share than the configured one. */
  readonly isOff: boolean
  /** What is known, in one sentence without a full stop. */
  readonly reason: string
}

/** Tests whether the share of the callers that got the canary is the configured one. */
export interface SampleRatio {
  /**
   * Counts a request of a caller. Only the first request of each caller is tested, because a caller keeps its side. Returns true if it is the
   * first one.
   */
  see(caller: string, got: boolean): boolean
  /** Takes what all replicas together have counted by now, in place of own counts. The order of callers does not matter to the test. */
  learn(totals: Pick<RatioState, 'callers' | 'got' | 'requests'>): void
  /** True if the callers prove another share than the configured one. */
  isOff(): boolean
  state(): RatioState
}

/** Callers that are remembered. Later ones are no longer tested: so many find any share that matters. */
const MOST = 10_000

/** A share this close to the configured one is right: a page that continues a list, or a read that v1 answered for v2, stays elsewhere. */
const TOLERANCE = 0.02

/** The prior is worth one caller. It expects the configured share, but never a certain one. */
const SUREST = 0.999

/**
 * A sequential test of a binomial share, for one step of a rollout. It compares how likely the callers are under any share, by a beta prior,
 * with how likely they are under the configured one. For a right share this ratio has a mean of 1. By Ville's inequality it ever reaches
 * `odds` with probability 1/odds at most, so that one may look at any time (evidence §9).
 * (M. Lindon, A. Malek, "Anytime-valid inference for multinomial count data", NeurIPS 2022.)
 */
export function createSampleRatio({ share, odds }: RatioSettings): SampleRatio {
  const known = new Set<string>()
  let requests = { got: 0, other: 0 }
  let callers = 0
  const expected = Math.min(SUREST, Math.max(1 - SUREST, share))
  const range = { low: share * (1 - TOLERANCE), high: Math.min(1, share * (1 + TOLERANCE)) }
  let got = 0
  /** Logarithms of how likely the callers are under any share, and how likely it would be that none of them got the canary. */
  let likely = 0
  let none = 0

  const count = (isGot: boolean) => {
    const n = callers
    callers += 1
    likely += Math.log((isGot ? expected + got : 1 - expected + n - got) / (1 + n))
    none += Math.log((1 - expected + n) / (1 + n))
    if (isGot) got += 1
  }
  const differs = (from: number) => likely - logLikelihood(callers, got, from) >= Math.log(odds)
  const isOff = () => {
    const seen = got / callers
    return (seen < range.low && differs(range.low)) || (seen > range.high && differs(range.high))
  }
  const isTelling = () => none - logLikelihood(callers, 0, range.low) >= Math.log(odds)
  return {
    see(caller, isGot) {
      requests[isGot ? 'got' : 'other'] += 1
      if (known.has(caller) || known.size >= MOST) return false
      known.add(caller)
      count(isGot)
      return true
    },
    learn(totals) {
      requests = { ...totals.requests }
      while (callers < totals.callers) count(got < totals.got)
    },
    isOff,
    state: () => ({
      callers,
      got,
      share,
      requests: { ...requests },
      isOff: isOff(),
      reason: describe({ callers, got, share }, isOff(), isTelling()),
    }),
  }
}

function logLikelihood(n: number, got: number, share: number): number {
  return (got === 0 ? 0 : got * Math.log(share)) + (n === got ? 0 : (n - got) * Math.log(1 - share))
}

function describe({ callers, got, share }: Pick<RatioState, 'callers' | 'got' | 'share'>, isOff: boolean, isTelling: boolean): string {
  if (callers === 0) return `no caller yet; ${percent(share)} of them are to get the canary`
  const seen = `${count(got)} of ${many(callers, 'caller')} (${percent(got / callers)}) got the canary, and ${percent(share)} are configured`
  if (isOff) return `${seen}: look for clients that another rule, a tester's header or the balancer sends elsewhere`
  return isTelling ? seen : `${seen}: too few callers to tell`
}

/** Counts by operation id, as they are recorded. */
export type RecordedCounts = Readonly<Record<string, StepCounts>>

/** What one step of a rollout has shown. */
export interface StepEvidence {
  /** Tests whether a caller got the side that the share gives it. */
  sided(caller: string, got: boolean): void
  /** Counts a request of a caller of the share. `canBeJudged` is false for a write that no read can show. */
  used(operation: string, canBeJudged: boolean): void
  /** Counts a comparison of an answer of v2 to a caller of the share. */
  compared(observation: Observation): void
  /** Remembers a comparison that was recorded before a restart, so that the same poll is no observation again. */
  remember(observation: Observation, agoMs: number): void
  /** Returns what changed since the last call. */
  sinceLook(): Pick<RolloutView, 'requests' | 'unjudged'> & { readonly isWorse: boolean }
  /** Begins anew to count what is not judged. */
  forgive(): void
  counts(): RecordedCounts
  /** Takes over what was counted before a restart. */
  restore(counts: RecordedCounts): void
  readonly ratio: SampleRatio
}

interface EvidenceSettings {
  /** Share of the callers, 0–100. */
  readonly percent: number
  /** Is told of what other replicas must know. */
  readonly news?: NewsOfStep | undefined
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
}

/** All rollouts together remember as many pairs as the evidence does. A clean comparison that finds no room is no observation. */
const PAIRS = { ...COLLAPSE, entries: COLLAPSE.entries / MOST_ROLLOUTS }

/** At most one right share in this many steps is called wrong. */
export const RATIO_ODDS = 100_000

interface Counting {
  requests: number
  observations: Sample
  comparisons: Sample
}

const NOTHING: Sample = { n: 0, bad: 0 }

export function createStepEvidence({ percent, ticks, news }: EvidenceSettings): StepEvidence {
  const place = createCollapse(PAIRS)
  const ratio = createSampleRatio({ share: percent / 100, odds: RATIO_ODDS })
  const operations = new Map<string, Counting>()
  const countsOf = (operation: string) => {
    const known = operations.get(operation) ?? { requests: 0, observations: NOTHING, comparisons: NOTHING }
    operations.set(operation, known)
    return known
  }
  let requests = 0
  let unjudged = { requests: 0, since: ticks() }
  let isWorse = false
  return {
    ratio,
    sided(caller, got) {
      const isFirst = ratio.see(caller, got)
      news?.sided(caller, got, isFirst)
    },
    used(operation, canBeJudged) {
      news?.used(operation)
      requests += 1
      countsOf(operation).requests += 1
      if (!canBeJudged) return
      if (unjudged.requests === 0) unjudged.since = ticks()
      unjudged.requests += 1
    },
    compared(observation) {
      const { isFirst } = place(observation, ticks())
      const weight = WEIGHTS[observation.outcome]
      if (weight === 'nothing') return
      unjudged.requests = 0
      const isBad = weight === 'bad'
      news?.compared(observation, isBad, isFirst)
      if (isBad) isWorse = true
      const counted = countsOf(observation.operation)
      counted.comparisons = added(counted.comparisons, isBad)
      if (isFirst) counted.observations = added(counted.observations, isBad)
    },
    remember: (observation, agoMs) => void place(observation, ticks() - agoMs),
    sinceLook() {
      const { since, ...seen } = unjudged
      const look = { requests, isWorse, unjudged: { ...seen, ms: seen.requests === 0 ? 0 : ticks() - since } }
      requests = 0
      isWorse = false
      return look
    },
    forgive() {
      unjudged = { requests: 0, since: ticks() }
    },
    restore(counts) {
      operations.clear()
      for (const [operation, known] of Object.entries(counts)) operations.set(operation, { ...known })
    },
    counts: () => Object.fromEntries(Array.from(operations, ([operation, counted]) => [operation, { ...counted }] as const)),
  }
}

function added({ n, bad }: Sample, isBad: boolean): Sample {
  return { n: n + 1, bad: bad + (isBad ? 1 : 0) }
}
