import { describeProgress } from './machine/progress-text.ts'
import { observedIn, type RolloutView } from './machine/rollout-view.ts'
import type { RolloutPlan } from './rollout-plan.ts'
import { judgedShareOf, type RolloutPhase, type RolloutState, shareOf, stepOf } from './rollout-state.ts'
import type { RatioState } from './sample-ratio.ts'

/** What is told of a rollout: `GET /rollouts`, the page and the metrics. */
export interface RolloutStatus {
  /** The key of requests, metrics and notes. */
  readonly name: string
  /** Patterns of the operations of its rule. */
  readonly operations: readonly string[]
  /** Ids of the operations that its rule decides about: those that v2 has, and that no earlier rule takes from all its clients. */
  readonly reach: readonly string[]
  readonly phase: RolloutPhase
  /** Number of the step, from 1; `steps` once all are over. */
  readonly step: number
  readonly steps: number
  /** Share of the callers in force, 0–100. */
  readonly percent: number
  /** When it came into this phase, in milliseconds since 1970. */
  readonly since: number
  /** Why, in one sentence. */
  readonly reason: string
  /** How often it may still go on by itself. */
  readonly retriesLeft: number
  /** Milliseconds with traffic in this step, and those that it needs. */
  readonly heldMs: number
  readonly wantedMs: number
  /** New observations of v2's answers to the callers of the share in this step, and those that it needs. */
  readonly observed: number
  readonly wanted: number
  /** Which callers really got the share in this step; absent while it is 0. */
  readonly ratio?: RatioState
}

export function statusOf(plan: RolloutPlan, state: RolloutState, view: RolloutView, reach: ReadonlySet<string>): RolloutStatus {
  const { name, operations, steps, retries } = plan
  const { holdMs, observations } = stepOf(plan, state)
  const place = { step: Math.min(state.at + 1, steps.length), steps: steps.length, percent: shareOf(plan, state) }
  const { phase, since, heldMs } = state
  const counts = { heldMs: Math.round(heldMs), wantedMs: holdMs, observed: observedIn(view), wanted: observations }
  return {
    name,
    operations,
    reach: [...reach],
    phase,
    ...place,
    since,
    reason: describeProgress(plan, state, view),
    retriesLeft: Math.max(0, retries - state.retried),
    ...counts,
    ...(view.ratio && judgedShareOf(plan, state) > 0 && { ratio: view.ratio }),
  }
}
