import type { Sample } from '../../diff/evidence/bound.ts'
import { COLLAPSE, createCollapse } from '../../diff/evidence/collapse.ts'
import { type Observation, WEIGHTS } from '../../diff/evidence/observation.ts'
import type { RolloutView, StepCounts } from './machine/rollout-view.ts'
import { MOST_ROLLOUTS } from './rollout-plan.ts'
import { createSampleRatio, type SampleRatio } from './sample-ratio.ts'
import type { NewsOfStep } from './shared/step-news.ts'

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
