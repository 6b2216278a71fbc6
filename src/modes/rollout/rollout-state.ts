import type { PlannedStep, RolloutPlan } from './rollout-plan.ts'

/**
 * - `running`: the share is that of the step, and the step is judged.
 * - `held`: no caller of the share sends anything, so that no time counts.
 * - `paused`: the share stays. A signal or a person paused it.
 * - `turned-back`: a guardrail set the share to 0.
 * - `watching`: the last step is over, and the rollout is still judged.
 * - `done`: the share of the last step stays.
 * - `aborted`: a person set the share to 0 for good.
 */
export type RolloutPhase = 'running' | 'held' | 'paused' | 'turned-back' | 'watching' | 'done' | 'aborted'

/** Where a rollout stands. It is data, so that it can be recorded and restored. */
export interface RolloutState {
  readonly phase: RolloutPhase
  /** Index of the step; the number of steps once they are over. */
  readonly at: number
  /** Why it is in this phase, in one sentence. */
  readonly reason: string
  /** When it came into this phase, in milliseconds since 1970. It is only shown: no decision looks at it. */
  readonly since: number
  /** Only a person may end the pause. */
  readonly byPerson: boolean
  /** How often it went on by itself since a person last decided. */
  readonly retried: number
  /** How often the step was extended because its evidence was inconclusive. */
  readonly extended: number
  /** Milliseconds with traffic in this step. */
  readonly heldMs: number
  /** Milliseconds since the last request of a caller of the share. */
  readonly quietMs: number
  /** Milliseconds since it was turned back. */
  readonly backMs: number
}

/** What every step begins with. */
export const FRESH = { byPerson: false, extended: 0, heldMs: 0, quietMs: 0, backMs: 0 } as const

export function firstState(reason: string, now: number): RolloutState {
  return { ...FRESH, phase: 'running', at: 0, reason, since: now, retried: 0 }
}

/** Returns the step of a state; that of the watch once the steps are over. */
export function stepOf({ steps, watch }: RolloutPlan, { at }: Pick<RolloutState, 'at'>): PlannedStep {
  return steps[at] ?? watch
}

/** Returns the phase of a rollout that goes on. */
export function goingAt({ steps }: RolloutPlan, at: number): 'running' | 'watching' {
  return at < steps.length ? 'running' : 'watching'
}

/** Returns the share of the callers in force, 0–100. */
export function shareOf(plan: RolloutPlan, state: RolloutState): number {
  return state.phase === 'turned-back' || state.phase === 'aborted' ? 0 : stepOf(plan, state).percent
}

/** Describes a state in one line: `running at step 2 of 3 (10 %)`. */
export function describeState(plan: RolloutPlan, state: RolloutState): string {
  const { steps } = plan
  const place = state.at < steps.length ? ` at step ${state.at + 1} of ${steps.length}` : ''
  return `${state.phase}${place} (${shareOf(plan, state)} %)`
}
