import {
  COLLAPSE,
  count,
  createCollapse,
  many,
  type Observation,
  type OperationEvidence,
  percent,
  type Sample,
  WEIGHTS,
} from '../evidence/evidence.ts'
import { aloneOf } from '../evidence/standing.ts'
import type { StepCounts } from './machine.ts'
import { MOST_ROLLOUTS } from './plan.ts'

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

/** Callers that are remembered. Later ones are no longer tested: so many find any share that matters. */
const MOST = 10_000

/** A share this close to the configured one is right: a page that continues a list, or a read that v1 answered for v2, stays elsewhere. */
const TOLERANCE = 0.02

/** The prior is worth one caller. It expects the configured share, but never a certain one. */
const SUREST = 0.999

/**
 * Tests whether the share of the callers that got the canary is the configured one: a sequential test of a binomial share, for one step of a
 * rollout. `share` is the configured one, more than 0 and at most 1. It compares how likely the callers are under any share, by a beta
 * prior, with how likely they are under the configured one. For a right share this ratio has a mean of 1. By Ville's inequality it ever
 * reaches `odds` with probability 1/odds at most, so that one may look at any time (evidence §9).
 * (M. Lindon, A. Malek, "Anytime-valid inference for multinomial count data", NeurIPS 2022.)
 */
export function createSampleRatio({ share, odds }: { readonly share: number; readonly odds: number }) {
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
    /**
     * Counts a request of a caller. Only the first request of each caller is tested, because a caller keeps its side. Returns true if it is the
     * first one.
     */
    see(caller: string, isGot: boolean) {
      requests[isGot ? 'got' : 'other'] += 1
      if (known.has(caller) || known.size >= MOST) return false
      known.add(caller)
      count(isGot)
      return true
    },
    /** Takes what all replicas together have counted by now, in place of own counts. The order of callers does not matter to the test. */
    learn(totals: Pick<RatioState, 'callers' | 'got' | 'requests'>) {
      requests = { ...totals.requests }
      while (callers < totals.callers) count(got < totals.got)
    },
    /** True if the callers prove another share than the configured one. */
    isOff,
    state: (): RatioState => ({
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

/** All rollouts together remember as many pairs as the evidence does. A clean comparison that finds no room is no observation. */
const PAIRS = { ...COLLAPSE, entries: COLLAPSE.entries / MOST_ROLLOUTS }

/** At most one right share in this many steps is called wrong. */
const RATIO_ODDS = 100_000

interface Counting {
  requests: number
  observations: Sample
  comparisons: Sample
}

const NOTHING: Sample = { n: 0, bad: 0 }

export type StepEvidence = ReturnType<typeof createStepEvidence>

/** Counts what one step of a rollout shows at this process. `percent` is its share of the callers, 0–100, and `ticks` a monotonic clock. */
export function createStepEvidence({
  percent,
  ticks,
  news,
}: {
  readonly percent: number
  readonly ticks: () => number
  readonly news?: NewsOfStep | undefined
}) {
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
    /** Tests whether a caller got the side that the share gives it. */
    sided(caller: string, got: boolean) {
      const isFirst = ratio.see(caller, got)
      news?.sided(caller, got, isFirst)
    },
    /** Counts a request of a caller of the share. `canBeJudged` is false for a write that no read can show. */
    used(operation: string, canBeJudged: boolean) {
      news?.used(operation)
      requests += 1
      countsOf(operation).requests += 1
      if (!canBeJudged) return
      if (unjudged.requests === 0) unjudged.since = ticks()
      unjudged.requests += 1
    },
    /** Counts a comparison of an answer of v2 to a caller of the share. */
    compared(observation: Observation) {
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
    /** Remembers a comparison that was recorded before a restart, so that the same poll is no observation again. */
    remember: (observation: Observation, agoMs: number) => void place(observation, ticks() - agoMs),
    /** Returns what changed since the last call. */
    sinceLook() {
      const { since, ...seen } = unjudged
      const look = { requests, isWorse, unjudged: { ...seen, ms: seen.requests === 0 ? 0 : ticks() - since } }
      requests = 0
      isWorse = false
      return look
    },
    /** Begins anew to count what is not judged. */
    forgive() {
      unjudged = { requests: 0, since: ticks() }
    },
    /** Takes over what was counted before a restart. */
    restore(counts: RecordedCounts) {
      operations.clear()
      for (const [operation, known] of Object.entries(counts)) operations.set(operation, { ...known })
    },
    counts: (): RecordedCounts =>
      Object.fromEntries(Array.from(operations, ([operation, counted]) => [operation, { ...counted }] as const)),
  }
}

function added({ n, bad }: Sample, isBad: boolean): Sample {
  return { n: n + 1, bad: bad + (isBad ? 1 : 0) }
}

/** An observation that this replica saw first. Another one may have seen it before. */
interface NewObservation extends Observation {
  /** Milliseconds since 1970. */
  readonly at: number
}

interface NewCaller {
  readonly caller: string
  /** The canary's side answered its first request. */
  readonly got: boolean
  readonly at: number
}

/** What one replica has counted in a step since it last told the others. */
export interface StepNews {
  readonly requests: ReadonlyMap<string, number>
  readonly comparisons: ReadonlyMap<string, Sample>
  /** Requests by the side that answered them. */
  readonly sides: { readonly got: number; readonly other: number }
  readonly observations: readonly NewObservation[]
  readonly callers: readonly NewCaller[]
}

/** Observations and callers of one exchange. */
const MOST_CLAIMS = 1000

/** Observations of one rollout that wait while the store does not answer. A bad one that finds no room still counts as a comparison. */
const MOST_WAITING = 10_000

export type NewsOfStep = ReturnType<typeof createNewsOfStep>

/** Gathers what the other replicas must know of a step. */
export function createNewsOfStep(now: () => number) {
  let requests = new Map<string, number>()
  let comparisons = new Map<string, Sample>()
  let sides = { got: 0, other: 0 }
  const bad: NewObservation[] = []
  const clean: NewObservation[] = []
  const callers: NewCaller[] = []
  const observe = (observation: Observation, isBad: boolean) => {
    const { operation, caller, shape, outcome } = observation
    const list = isBad ? bad : clean
    list.push({ operation, caller, shape, outcome, at: now() })
    if (bad.length + clean.length > MOST_WAITING) (clean.length > 0 ? clean : bad).pop()
  }
  return {
    used: (operation: string) => void requests.set(operation, (requests.get(operation) ?? 0) + 1),
    sided(caller: string, got: boolean, isFirst: boolean) {
      sides[got ? 'got' : 'other'] += 1
      if (isFirst) callers.push({ caller, got, at: now() })
    },
    compared(observation: Observation, isBad: boolean, isFirst: boolean) {
      const { n, bad: wrong } = comparisons.get(observation.operation) ?? { n: 0, bad: 0 }
      comparisons.set(observation.operation, { n: n + 1, bad: wrong + (isBad ? 1 : 0) })
      if (isFirst) observe(observation, isBad)
    },
    /** Hands over what is new, with at most `MOST_CLAIMS` observations and callers. */
    take(): StepNews {
      const observations = [...bad.splice(0, MOST_CLAIMS)]
      observations.push(...clean.splice(0, MOST_CLAIMS - observations.length))
      const news = { requests, comparisons, sides, observations, callers: callers.splice(0, MOST_CLAIMS - observations.length) }
      requests = new Map()
      comparisons = new Map()
      sides = { got: 0, other: 0 }
      return news
    },
    /** Observations and callers that wait. */
    waiting: () => bad.length + clean.length + callers.length,
  }
}

/** What all replicas together have counted in a step. */
export interface StepTotals extends Pick<RatioState, 'callers' | 'got'> {
  readonly counts: RecordedCounts
  /** Requests by the side that answered them. */
  readonly sides: RatioState['requests']
}

export type SharedEvidence = ReturnType<typeof createSharedEvidence>

/** The evidence of a step as the fleet has it. `known` is what was published of the step before. */
export function createSharedEvidence(percent: number, known: RecordedCounts) {
  const ratio = createSampleRatio({ share: percent / 100, odds: RATIO_ODDS })
  let counts: RecordedCounts | undefined
  let seen = requestsIn(known)
  let isLost = false
  return {
    ratio,
    /** Takes what the store has. It only grows. */
    hear(totals: StepTotals) {
      isLost ||= isLess(totals.counts, counts ?? known)
      counts = totals.counts
      ratio.learn({ ...totals, requests: totals.sides })
    },
    /** True if the store has less than was known of the step: it has lost something. */
    isLost: () => isLost,
    counts: () => counts ?? known,
    /** Returns the requests since the last call. */
    requestsSinceLook() {
      const now = requestsIn(counts ?? known)
      const since = Math.max(0, now - seen)
      seen = now
      return since
    },
  }
}

function requestsIn(counts: RecordedCounts): number {
  return Object.values(counts).reduce((sum, { requests }) => sum + requests, 0)
}

function isLess(counts: RecordedCounts, known: RecordedCounts): boolean {
  return Object.entries(known).some(([operation, { requests, observations, comparisons }]) => {
    const now = counts[operation]
    return !now || now.requests < requests || now.observations.n < observations.n || now.comparisons.n < comparisons.n
  })
}

/** Figures by operation id. */
export type Figures = Readonly<Record<string, Sample>>

/** What is known of v2's answers to an operation. What v2 did alone is among the wrong ones. */
export interface KnownFigure extends Sample {
  /** Requests that v2 alone refused, or of which its answer left nothing to compare. */
  readonly alone: number
}

/** What is known of v2's answers. */
export interface KnownFigures {
  readonly evidence: { readonly of: (operation: string) => KnownFigure | undefined }
}

/** Counts what v2 did alone as wrong. Undefined if nothing is known. */
export function knownFigure(evidence: (Sample & Pick<OperationEvidence, 'uncompared'>) | undefined): KnownFigure | undefined {
  if (!evidence) return undefined
  const alone = aloneOf(evidence)
  return { n: evidence.n + alone, bad: evidence.bad + alone, alone }
}

/** Returns what is known of each operation now. */
export function knownOf(reach: ReadonlySet<string>, { evidence }: KnownFigures): Figures {
  return Object.fromEntries(
    [...reach].flatMap((operation) => {
      const known = evidence.of(operation)
      return known ? [[operation, { n: known.n, bad: known.bad }]] : []
    }),
  )
}

/** Returns what became known since then. If records are gone, what is left counts whole: nothing bad may hide. */
export function sinceThen({ n, bad }: Sample = NOTHING, then: Sample = NOTHING): Sample {
  return n < then.n || bad < then.bad ? { n, bad } : { n: n - then.n, bad: bad - then.bad }
}

/** Returns what became known of each operation since then. */
export function seenSince(before: Figures, { evidence }: KnownFigures): Figures {
  return Object.fromEntries(Object.entries(before).map(([operation, then]) => [operation, sinceThen(evidence.of(operation), then)]))
}

/**
 * Returns what was known then, as the records that are left would have it: what was seen since then must not shrink, nor what was before
 * dilute it, because old record files were removed.
 */
export function keptSince(before: Figures, seen: Figures, { evidence }: KnownFigures): Figures {
  const kept = Object.entries(before).map(([operation, then]) => {
    const [known, since] = [evidence.of(operation) ?? NOTHING, seen[operation] ?? NOTHING]
    const isWhole = known.n - then.n >= since.n && known.bad - then.bad >= since.bad
    return [operation, isWhole ? then : { n: known.n - since.n, bad: known.bad - since.bad }] as const
  })
  return Object.fromEntries(kept)
}
