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
export const ROLLOUT_PHASES = ['running', 'held', 'paused', 'turned-back', 'watching', 'done', 'aborted'] as const

export type RolloutPhase = (typeof ROLLOUT_PHASES)[number]

/** What pauses a rollout. `conditions.ts` says when. */
export const SIGNAL_NAMES = ['outside', 'fallbacks', 'share', 'unjudged', 'records', 'inconclusive'] as const

export type SignalName = (typeof SIGNAL_NAMES)[number]

/** Where a rollout stands. It is data, so that it can be recorded and restored. */
export interface RolloutState {
  readonly phase: RolloutPhase
  /** Index of the step; the number of steps once they are over. */
  readonly at: number
  /** Why it is in this phase, in one sentence. */
  readonly reason: string
  /** When it came into this phase, in milliseconds since 1970. It is only shown: no decision looks at it. */
  readonly since: number
  /** The signal that paused it. Without one, a person did, and only a person ends the pause. */
  readonly signal?: SignalName | undefined
  /** How often it went on by itself since a person last decided. */
  readonly retried: number
  /** How many times over inconclusive evidence may be waited for in this step. */
  readonly rounds: number
  /** Milliseconds with traffic in this step. */
  readonly heldMs: number
  /** Milliseconds since the last request of a caller of the share. */
  readonly quietMs: number
  /** Milliseconds since it was turned back. */
  readonly backMs: number
  /** Why each circuit that turned it back is open, by operation id. */
  readonly opened: Readonly<Record<string, string>>
  /** Grows whenever a step begins, so that its evidence begins anew. */
  readonly stepsBegun: number
  /** Grows whenever what was known of v2 before proves nothing any more. */
  readonly runsBegun: number
}

export function firstState(reason: string, now: number): RolloutState {
  return { phase: 'running', at: 0, reason, since: now, retried: 0, ...BEGUN, opened: {}, stepsBegun: 1, runsBegun: 1 }
}

const BEGUN = { signal: undefined, rounds: 1, heldMs: 0, quietMs: 0, backMs: 0 } as const

/** Returns what changes when a step begins. */
export function stepBegins(plan: RolloutPlan, at: number, { stepsBegun }: RolloutState) {
  return { ...BEGUN, phase: goingAt(plan, at), at, stepsBegun: stepsBegun + 1 }
}

/** Returns what changes when the first step begins again, without what was known of v2 before. */
export function runBegins(plan: RolloutPlan, state: RolloutState) {
  return { ...stepBegins(plan, 0, state), opened: {}, runsBegun: state.runsBegun + 1 }
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

/** Returns the share of the callers that are judged, 0–100. Nothing is judged once a rollout is over. */
export function judgedShareOf(plan: RolloutPlan, state: RolloutState): number {
  return state.phase === 'done' ? 0 : shareOf(plan, state)
}

/** Describes a state in one line: `running at step 2 of 3 (10 %)`. */
export function describeState(plan: RolloutPlan, state: RolloutState): string {
  const { steps } = plan
  const place = state.at < steps.length ? ` at step ${state.at + 1} of ${steps.length}` : ''
  return `${state.phase}${place} (${shareOf(plan, state)} %)`
}
