import { percent } from '../../../diff/percent.ts'
import { describeDuration } from '../duration.ts'
import type { PlannedStep, RolloutPlan } from '../rollout-plan.ts'
import { type RolloutState, SIGNAL_NAMES, type SignalName } from '../rollout-state.ts'
import { excessIn, failuresIn, lackIn, observedIn, type RolloutView } from './rollout-view.ts'

/** What is known when a rollout is looked at. */
export interface Situation {
  readonly plan: RolloutPlan
  readonly state: RolloutState
  readonly step: PlannedStep
  readonly view: RolloutView
}

/** Returns a reason, without a full stop, if the condition holds. */
type Condition = (situation: Situation) => string | undefined

/** Without a request in this time, no time counts and the rollout is held. */
export const QUIET_MS = 600_000

/**
 * Requests, and milliseconds, without a comparison that says something, from which on nothing is judged. While comparisons are scarce,
 * chance alone leaves out so many in a row once in 10¹¹ times (evidence §3).
 */
const UNJUDGED = { requests: 500, ms: 60_000 }

/** How often a step is held once more, and for how long at least, while its evidence is inconclusive. */
const EXTENSIONS = { most: 3, ms: 3_600_000 }

/** The first pause before a retry. Each further one is twice as long. */
const BACK_OFF = { firstMs: 600_000, mostMs: 21_600_000 }

/** Turns the rollout back: the circuit of one of its operations is open. */
export const guardrail: Condition = ({ view }) => {
  const [first, ...others] = Object.entries(view.open)
  if (!first) return undefined
  const more = others.length > 0 ? `, and those of ${others.map(([operation]) => operation).join(', ')}` : ''
  return `The circuit of ${first[0]} opened (${first[1]})${more}`
}

/** What pauses a rollout while its share stays. The first that is on gives the reason. */
const SIGNALS: Readonly<Record<SignalName, Condition>> = {
  outside: ({ view, step }) =>
    told(view.operations.map((one) => excessIn(one, step.target)).find(Boolean), `proves more than ${percent(step.target)}`),
  fallbacks: ({ view }) => view.operations.map(failuresIn).find(Boolean),
  share: ({ view }) => (view.ratio?.isOff ? `The share is not what is configured: ${view.ratio.reason}` : undefined),
  unjudged: ({ view: { unjudged } }) => {
    if (!isUnjudged(unjudged)) return undefined
    return `None of the last ${unjudged.requests} requests was judged, for ${describeDuration(unjudged.ms)}: see uncompared in /evidence`
  },
  records: ({ view }) => (view.unwritten === undefined ? undefined : `Records cannot be written: ${view.unwritten}`),
  inconclusive: (situation) => {
    const { state, step, view } = situation
    const lacking = isFulfilled(situation) && state.heldMs >= patience(step, state) ? lackOf(view, step) : undefined
    return lacking === undefined ? undefined : `Inconclusive after ${describeDuration(state.heldMs)} with traffic: ${lacking}`
  },
}

/** True if so many requests in a row were not judged that something is wrong. */
export function isUnjudged({ requests, ms }: RolloutView['unjudged']): boolean {
  return requests >= UNJUDGED.requests && ms >= UNJUDGED.ms
}

/** Returns the first signal that is on, and why. */
export function signalIn(situation: Situation): { readonly name: SignalName; readonly reason: string } | undefined {
  for (const name of SIGNAL_NAMES) {
    const reason = SIGNALS[name](situation)
    if (reason !== undefined) return { name, reason }
  }
  return undefined
}

/** True if the step has the observations and the time that it needs. */
export function isFulfilled({ state, step, view }: Situation): boolean {
  return view.operations.length > 0 && state.heldMs >= step.holdMs && observedIn(view) >= step.observations
}

/** Says what the evidence lacks; undefined if every operation with requests is inside the target. */
export function lackOf({ operations }: RolloutView, { target }: PlannedStep): string | undefined {
  const lacking = operations.flatMap((one) => lackIn(one, target) ?? [])
  if (lacking.length === 0) return undefined
  const others = lacking.length - NAMED
  return `${lacking.slice(0, NAMED).join('; ')}${others > 0 ? `; ${others} more` : ''} (target ${percent(target)})`
}

/** Operations that one sentence names. */
const NAMED = 3

/** Milliseconds with traffic after which a step is no longer held for its evidence. */
function patience({ holdMs }: PlannedStep, { rounds }: RolloutState): number {
  return holdMs + ((EXTENSIONS.most + 1) * rounds - 1) * Math.max(holdMs, EXTENSIONS.ms)
}

/** Milliseconds before the next retry. */
export function backOff({ retried }: Pick<RolloutState, 'retried'>): number {
  return Math.min(BACK_OFF.mostMs, BACK_OFF.firstMs * 2 ** retried)
}

function told(reason: string | undefined, proof: string): string | undefined {
  return reason === undefined ? undefined : `${reason}, which ${proof}`
}
