import type { Sample } from '../../diff/evidence/bound.ts'
import type { RolloutView } from './machine/rollout-view.ts'
import type { RolloutPlan } from './rollout-plan.ts'
import { firstState, type RolloutState, stepOf } from './rollout-state.ts'
import type { SavedRun } from './saved-run.ts'
import { createNewsOfStep, type NewsOfStep } from './shared/step-news.ts'
import { createSharedEvidence, type SharedEvidence } from './shared/step-totals.ts'
import { createStepEvidence, type RecordedCounts, type StepEvidence } from './step-evidence.ts'
import { type FigureSources, keptSince, knownOf, seenSince, viewOf } from './view-of.ts'

/** Where a rollout stands, and what its step has shown. */
export interface RunPlace {
  state(): RolloutState
  /** What this process has seen of the step. */
  evidence(): StepEvidence
  /** What the replicas of a fleet tell each other of the step; undefined without a store. */
  shared(): SharedStep | undefined
  view(since: Pick<RolloutView, 'requests' | 'unjudged'>): RolloutView
  saved(): SavedRun
  /** Returns what would be saved there: a new run begins with what is known now, and a new step without counts. */
  savedAt(to: RolloutState): SavedRun
  /** Goes there. Another step than the present one begins without what was seen of the present one. */
  take(saved: SavedRun, isOther?: boolean): void
  /** Lets time pass in the same step. */
  pass(state: RolloutState): void
  /** Takes over what was seen since the run began. */
  settle(seen: Readonly<Record<string, Sample>>): void
  reach: ReadonlySet<string>
}

export interface SharedStep {
  readonly news: NewsOfStep
  readonly evidence: SharedEvidence
}

export interface PlaceSources extends FigureSources {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
  /** Replicas decide together. */
  readonly isShared: boolean
}

export const BEGINS = 'It begins at its first step.'

interface Step {
  readonly evidence: StepEvidence
  readonly shared: SharedStep | undefined
}

export function createRunPlace(plan: RolloutPlan, sources: PlaceSources): RunPlace {
  const { journal, now, ticks, isShared } = sources
  const stepAt = (of: RolloutState, counts: RecordedCounts = {}): Step => {
    const { percent } = stepOf(plan, of)
    if (!isShared) return { evidence: createStepEvidence({ percent, ticks }), shared: undefined }
    const news = createNewsOfStep(now)
    return { evidence: createStepEvidence({ percent, ticks, news }), shared: { news, evidence: createSharedEvidence(percent, counts) } }
  }
  let state = firstState(BEGINS, now())
  let step = stepAt(state)
  let before: Readonly<Record<string, Sample>> = {}
  const counted = () => step.shared?.evidence ?? step.evidence
  const place: RunPlace = {
    reach: new Set(),
    state: () => state,
    evidence: () => step.evidence,
    shared: () => step.shared,
    view: (since) => viewOf({ reach: place.reach, evidence: counted(), before }, since, sources),
    saved: () => ({ state, counts: counted().counts(), before, seen: seenSince(before, journal) }),
    savedAt(to) {
      const then = to.runsBegun === state.runsBegun ? before : knownOf(place.reach, journal)
      const counts = to.stepsBegun === state.stepsBegun ? counted().counts() : {}
      return { state: to, counts, before: then, seen: seenSince(then, journal) }
    },
    take(saved, isOther = saved.state.stepsBegun !== state.stepsBegun) {
      if (isOther) step = stepAt(saved.state, saved.counts)
      state = saved.state
      before = saved.before
      if (!isShared) step.evidence.restore(saved.counts)
    },
    pass(to) {
      state = to
    },
    settle(seen) {
      before = keptSince(before, seen, journal)
    },
  }
  return place
}
