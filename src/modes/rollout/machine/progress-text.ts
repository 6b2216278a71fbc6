import { many } from '../../../diff/many.ts'
import { describeDuration } from '../duration.ts'
import type { RolloutPlan } from '../rollout-plan.ts'
import { type RolloutPhase, type RolloutState, stepOf } from '../rollout-state.ts'
import { backOff, lackOf, signalIn } from './conditions.ts'
import { observedIn, type RolloutView } from './rollout-view.ts'

type Text = (plan: RolloutPlan, state: RolloutState, view: RolloutView) => string

/** Says why a rollout is where it is, and what leads further. */
export const describeProgress: Text = (plan, state, view) => TEXTS[state.phase](plan, state, view)

const judged: Text = (plan, state, view) => {
  const step = stepOf(plan, state)
  const wanted = [
    ...(step.observations > 0 ? [`${observedIn(view)} of ${many(step.observations, 'observation')}`] : []),
    ...(step.holdMs > 0 ? [`${describeDuration(state.heldMs)} of ${describeDuration(step.holdMs)} with traffic`] : []),
  ].join(' and ')
  const place = state.at < plan.steps.length ? `Step ${state.at + 1} of ${plan.steps.length} at ${step.percent} %` : 'The last step is over'
  const lacking = view.operations.length === 0 ? 'no caller of the share has sent a request yet' : lackOf(view, step)
  return `${state.reason} ${place}: ${wanted}${lacking === undefined ? '' : `; ${lacking}`}.`
}

const TEXTS: Readonly<Record<RolloutPhase, Text>> = {
  running: judged,
  watching: judged,
  held: (_, { reason }) => `${reason} The time does not count.`,
  paused: (plan, state, view) => {
    const { signal, retried } = state
    if (signal === undefined) return `${state.reason} A person must resume it.`
    const now = signalIn({ plan, state, view, step: stepOf(plan, state) })
    const reason = now === undefined || now.name === signal ? state.reason : `${state.reason} ${now.reason}.`
    if (retried >= plan.retries) return `${reason} No retry is left, so that a person must resume it.`
    return `${reason} It goes on by itself when that has ended.`
  },
  'turned-back': (plan, state, { open, stuck }) => {
    const { reason, retried, backMs } = state
    if (retried >= plan.retries) return `${reason} No retry is left, so that a person must resume it.`
    if (stuck.length > 0) return `${reason} No answer can close the circuit of ${stuck.join(', ')}, so that a person must resume it.`
    const circuits = Object.keys(open)
    if (circuits.length > 0)
      return `${reason} It tries again when ${circuits.length === 1 ? 'this circuit has' : 'these circuits have'} closed.`
    return `${reason} It tries again in ${describeDuration(Math.max(0, backOff(state) - backMs))}.`
  },
  done: (_, { reason }) => reason,
  aborted: (_, { reason }) => `${reason} Its share is 0.`,
}
