import { many } from '../../../diff/many.ts'
import { percent } from '../../../diff/percent.ts'
import type { Actor } from '../../../diff/records/actor.ts'
import { describeDuration } from '../duration.ts'
import type { RolloutPlan } from '../rollout-plan.ts'
import { goingAt, type RolloutPhase, type RolloutState, runBegins, stepBegins, stepOf } from '../rollout-state.ts'
import { backOff, guardrail, isFulfilled, lackOf, QUIET_MS, type Situation, signalIn } from './conditions.ts'
import { observedIn, type RolloutView } from './rollout-view.ts'

/** One look at a rollout. */
export interface RolloutLook {
  readonly view: RolloutView
  /** Milliseconds of a monotonic clock since the last look. */
  readonly elapsedMs: number
  /** Milliseconds since 1970, to be shown. */
  readonly now: number
}

type Moved = (Partial<RolloutState> & Pick<RolloutState, 'phase' | 'reason'>) | undefined

interface Transition {
  readonly from: readonly RolloutPhase[]
  /** Returns what changes if the condition holds. */
  readonly move: (situation: Situation) => Moved
  readonly by: Actor['source']
}

const GOING: readonly RolloutPhase[] = ['running', 'watching']

/** What moves a rollout by itself. The first that applies decides. */
const TRANSITIONS: readonly Transition[] = [
  { from: [...GOING, 'held', 'paused'], by: 'circuit', move: turnBack },
  { from: ['turned-back'], by: 'rollout', move: tryAgain },
  { from: ['held'], by: 'rollout', move: endHold },
  { from: ['paused'], by: 'rollout', move: endPause },
  { from: GOING, by: 'rollout', move: pause },
  { from: GOING, by: 'rollout', move: hold },
  { from: GOING, by: 'rollout', move: advance },
]

/** Returns the state after a look, and what moved it if its phase or its step is another one. */
export function next(
  plan: RolloutPlan,
  before: RolloutState,
  { view, elapsedMs, now }: RolloutLook,
): { state: RolloutState; by?: Actor['source'] } {
  const state = timed(before, view, elapsedMs)
  const situation = { plan, state, view, step: stepOf(plan, state) }
  for (const { from, move, by } of TRANSITIONS) {
    const moved = from.includes(state.phase) ? move(situation) : undefined
    if (moved) return { state: { ...state, ...moved, since: now }, by }
  }
  return { state }
}

/** Returns the state after some time, before anything is decided. It counts as held only between requests that are not too far apart. */
export function timed(state: RolloutState, { requests, open }: RolloutView, elapsedMs: number): RolloutState {
  if (state.phase === 'turned-back') return { ...state, backMs: state.backMs + elapsedMs, opened: open }
  if (!GOING.includes(state.phase)) return state
  const quietMs = state.quietMs + elapsedMs
  if (requests === 0) return { ...state, quietMs }
  return { ...state, quietMs: 0, heldMs: state.heldMs + (quietMs > QUIET_MS ? 0 : quietMs) }
}

function turnBack(situation: Situation): Moved {
  const { plan, state, view } = situation
  const reason = guardrail(situation)
  if (reason === undefined) return undefined
  // What a person paused must not go on by itself, by this way either.
  const retried = state.phase === 'paused' && state.signal === undefined ? plan.retries : state.retried
  return { phase: 'turned-back', signal: undefined, retried, reason: `${reason}.`, backMs: 0, opened: view.open }
}

function tryAgain({ plan, state, view }: Situation): Moved {
  if (Object.keys(view.open).length > 0 || state.retried >= plan.retries || state.backMs < backOff(state)) return undefined
  const reason = `Its circuits are closed again, ${describeDuration(state.backMs)} after it was turned back: retry ${state.retried + 1} of ${plan.retries}.`
  return { ...runBegins(plan, state), reason, retried: state.retried + 1 }
}

function endHold({ plan, state, view }: Situation): Moved {
  return view.requests === 0
    ? undefined
    : { phase: goingAt(plan, state.at), quietMs: 0, reason: 'Callers of the share send requests again.' }
}

function endPause(situation: Situation): Moved {
  const { plan, state } = situation
  if (state.signal === undefined || state.retried >= plan.retries || signalIn(situation)) return undefined
  const retried = state.retried + 1
  return {
    phase: goingAt(plan, state.at),
    signal: undefined,
    quietMs: 0,
    retried,
    reason: `The signal has ended: retry ${retried} of ${plan.retries}.`,
  }
}

function pause(situation: Situation): Moved {
  const signal = signalIn(situation)
  return signal && { phase: 'paused', signal: signal.name, reason: `${signal.reason}.` }
}

function hold({ state }: Situation): Moved {
  if (state.quietMs <= QUIET_MS) return undefined
  return { phase: 'held', reason: `No caller of the share sent a request for ${describeDuration(QUIET_MS)}.` }
}

function advance(situation: Situation): Moved {
  const { plan, state, step, view } = situation
  if (!isFulfilled(situation) || lackOf(view, step) !== undefined) return undefined
  const proof = `${many(view.operations.length, 'operation')} inside ${percent(step.target)} after ${many(observedIn(view), 'observation')} and ${describeDuration(state.heldMs)} with traffic`
  const reason = `${proof}${view.unused > 0 ? `; ${view.unused} without requests` : ''}.`
  if (state.at < plan.steps.length) return { ...stepBegins(plan, state.at + 1, state), reason }
  const plain = step.percent === 100 ? ', or as plain mode' : ''
  return { phase: 'done', reason: `${reason} The rule can now be written with percent ${step.percent}${plain}.` }
}
