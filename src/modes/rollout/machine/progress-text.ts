import { many } from '../../../diff/many.ts'
import { describeDuration } from '../duration.ts'
import type { PlannedStep, RolloutPlan } from '../rollout-plan.ts'
import { type RolloutPhase, type RolloutState, type SignalName, stepOf } from '../rollout-state.ts'
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
  const lacking = view.operations.length === 0 ? whyUnused(view) : (unjudgeable(view, step) ?? lackOf(view, step))
  return `${state.reason} ${place}: ${wanted}${lacking === undefined ? '' : `; ${lacking}`}.`
}

function whyUnused({ unused }: RolloutView): string {
  if (unused > 0) return 'no caller of the share has sent a request yet'
  return 'no request can come: its operations fit nothing that v2 has, or a rule before it takes them'
}

/** Says that the observations of the step can never come. */
function unjudgeable({ operations }: RolloutView, step: PlannedStep): string | undefined {
  if (step.observations === 0 || operations.some(({ canBeJudged }) => canBeJudged)) return undefined
  return 'no read shows what these writes did, so that no observation will come: promote it, or give the step a hold instead'
}

/** What a person may do where a signal may last. */
const ADVICE: Partial<Record<SignalName, string>> = {
  inconclusive: ' If that takes too long, promote it, or give the operation a rule of its own before this one.',
}

const TEXTS: Readonly<Record<RolloutPhase, Text>> = {
  running: judged,
  watching: judged,
  held: (_, { reason }, { ratio }) => {
    const seen = ratio ? ` In this step ${ratio.reason}.` : ''
    return `${reason} The time does not count.${seen} If none of its clients is in the share, promote it.`
  },
  paused: (plan, state, view) => {
    const { signal, retried } = state
    if (signal === undefined) return `${state.reason} A person must resume it.`
    const now = signalIn({ plan, state, view, step: stepOf(plan, state) })
    const reason = now === undefined || now.name === signal ? state.reason : `${state.reason} ${now.reason}.`
    const advice = ADVICE[signal] ?? ''
    if (retried >= plan.retries) return `${reason} No retry is left, so that a person must resume it.${advice}`
    return `${reason} It goes on by itself when that has ended.${advice}`
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
  aborted: (_, { reason }) => `${reason} Its share is 0. Other steps, or another name, start it again.`,
}
