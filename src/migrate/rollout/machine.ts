import { CIRCUIT, oddsOfExcess } from '../evidence/circuit.ts'
import { cleanNeeded, count, many, percent, type Sample, upperBound } from '../evidence/evidence.ts'
import type { Actor } from '../records/record.ts'
import type { RatioState } from './evidence.ts'
import {
  describeDuration,
  goingAt,
  judgedShareOf,
  type PlannedStep,
  type RolloutPhase,
  type RolloutPlan,
  type RolloutState,
  runBegins,
  SIGNAL_NAMES,
  type SignalName,
  shareOf,
  stepBegins,
  stepOf,
} from './plan.ts'

/** What a step has shown of one operation. */
export interface StepCounts {
  /** Requests of the callers of the share. */
  readonly requests: number
  /** Observations of v2's answers to them. */
  readonly observations: Sample
  /** Comparisons of these answers, repeats too. */
  readonly comparisons: Sample
}

/** An operation of the rollout that had requests in this step. */
export interface OperationView {
  readonly operation: string
  /** False for a write that no read can show. */
  readonly canBeJudged: boolean
  readonly step: StepCounts
  /** All that is known of v2's answers since the run began, whoever got them. What v2 did alone is among the wrong ones. */
  readonly run: Sample
  /** The requests among the wrong ones of the run that v2 alone refused, or of which its answer left nothing to compare. */
  readonly alone: number
  /** The failures in a row that speak against v2, as its circuit counts them. */
  readonly failures: Sample
}

/** All that the decisions about a rollout look at. */
export interface RolloutView {
  readonly operations: readonly OperationView[]
  /** Operations that the rule decides about and that had no request in this step. */
  readonly unused: number
  /** Why each open circuit of the rule opened, by operation id. */
  readonly open: Readonly<Record<string, string>>
  /** Those of them that only a person can close. */
  readonly stuck: readonly string[]
  /** Requests of the callers of the share since the last look. */
  readonly requests: number
  /** Requests since the last comparison that said something, and the milliseconds since then. */
  readonly unjudged: { readonly requests: number; readonly ms: number }
  /** Which share callers really got; undefined while the share is 0. */
  readonly ratio: RatioState | undefined
  /** Why records cannot be written, if so. */
  readonly unwritten: string | undefined
}

/** Odds that prove a signal: one that pauses wrongly costs time, so that 95 % are enough. */
const SIGNAL_ODDS = 20

/** Says why more answers than the target are wrong, proven by this step alone; undefined if that is not proven. */
function excessIn({ operation, step }: OperationView, target: number): string | undefined {
  const { observations, comparisons } = step
  if (proves(observations, target)) return wrongIn(operation, observations)
  return proves(comparisons, target) ? differedIn(operation, comparisons) : undefined
}

/** Says that v2 fails more than a circuit allows, proven less strongly than a circuit needs it; undefined if that is not proven. */
function failuresIn({ operation, failures }: OperationView): string | undefined {
  return proves(failures, CIRCUIT.errors)
    ? `v2 failed ${count(failures.bad)} of the last ${count(failures.n)} answers of ${operation}`
    : undefined
}

function proves(sample: Sample, allowed: number): boolean {
  return sample.bad > 0 && oddsOfExcess(sample, allowed) >= SIGNAL_ODDS
}

/**
 * Says what the evidence about an operation lacks to be inside the target; undefined if it lacks nothing. All that is known must prove it, and
 * nothing that the step itself has shown may contradict it: a clean past excuses no step (evidence §10).
 */
function lackIn({ operation, canBeJudged, step, run, alone }: OperationView, target: number): string | undefined {
  const { observations, comparisons } = step
  if (exceeds(observations, target)) return wrongIn(operation, observations)
  if (exceeds(comparisons, target)) return differedIn(operation, comparisons)
  const refused = alone > 0 ? `, as v2 alone left ${many(alone, 'request')} of it without a comparison: see uncompared in /evidence` : ''
  if (!canBeJudged) return alone > target * step.requests ? `${operation} may be wrong${refused}` : undefined
  if (observations.n === 0) return `${operation} has no observation in this step`
  const bound = upperBound(run)
  if (bound <= target) return undefined
  return `${operation} has a bound of ${percent(bound)} and needs ${many(cleanNeeded(run, target), 'more clean observation')}${refused}`
}

function exceeds({ n, bad }: Sample, target: number): boolean {
  return bad > target * n
}

function wrongIn(operation: string, { n, bad }: Sample): string {
  return `${operation} was wrong in ${count(bad)} of ${many(n, 'observation')} of this step`
}

function differedIn(operation: string, { n, bad }: Sample): string {
  return `${operation} differed in ${count(bad)} of ${many(n, 'comparison')} of this step`
}

/** Returns the new observations of the step, all operations together. */
function observedIn({ operations }: Pick<RolloutView, 'operations'>): number {
  return operations.reduce((sum, { step }) => sum + step.observations.n, 0)
}

/** What is known when a rollout is looked at. */
interface Situation {
  readonly plan: RolloutPlan
  readonly state: RolloutState
  readonly step: PlannedStep
  readonly view: RolloutView
}

/** Returns a reason, without a full stop, if the condition holds. */
type Condition = (situation: Situation) => string | undefined

/** Without a request in this time, no time counts and the rollout is held. */
const QUIET_MS = 600_000

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
const guardrail: Condition = ({ view }) => {
  const [first, ...others] = Object.entries(view.open)
  if (!first) return undefined
  const more = others.length > 0 ? `, and those of ${others.map(([operation]) => operation).join(', ')}` : ''
  return `The circuit of ${first[0]} opened (${first[1]})${more}`
}

/** What pauses a rollout while its share stays. The first that is on gives the reason. */
const SIGNALS: Readonly<Record<SignalName, Condition>> = {
  outside: ({ view, step }) => {
    const excess = view.operations.map((one) => excessIn(one, step.target)).find(Boolean)
    return excess === undefined ? undefined : `${excess}, which proves more than ${percent(step.target)}`
  },
  fallbacks: ({ view }) => view.operations.map(failuresIn).find(Boolean),
  share: ({ view }) => (view.ratio?.isOff ? `The share is not what is configured: ${view.ratio.reason}` : undefined),
  unjudged: ({ view: { unjudged } }) => {
    if (!isUnjudged(unjudged)) return undefined
    return `None of the last ${count(unjudged.requests)} requests was judged, for ${describeDuration(unjudged.ms)}: see uncompared in /evidence`
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
function signalIn(situation: Situation): { readonly name: SignalName; readonly reason: string } | undefined {
  for (const name of SIGNAL_NAMES) {
    const reason = SIGNALS[name](situation)
    if (reason !== undefined) return { name, reason }
  }
  return undefined
}

/** True if the step has the observations and the time that it needs. */
function isFulfilled({ state, step, view }: Situation): boolean {
  return view.operations.length > 0 && state.heldMs >= step.holdMs && observedIn(view) >= step.observations
}

/** Says what the evidence lacks; undefined if every operation with requests is inside the target. */
function lackOf({ operations }: RolloutView, { target }: PlannedStep): string | undefined {
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
function backOff({ retried }: Pick<RolloutState, 'retried'>): number {
  return Math.min(BACK_OFF.mostMs, BACK_OFF.firstMs * 2 ** retried)
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

/** Returns the state after a look, and what moved it if its phase or its step is another one. `now` is in milliseconds since 1970, to be shown. */
export function next(
  plan: RolloutPlan,
  state: RolloutState,
  view: RolloutView,
  now: number,
): { state: RolloutState; by?: Actor['source'] } {
  const situation = { plan, state, view, step: stepOf(plan, state) }
  for (const { from, move, by } of TRANSITIONS) {
    const moved = from.includes(state.phase) ? move(situation) : undefined
    if (moved) return { state: { ...state, ...moved, since: now }, by }
  }
  return { state }
}

/**
 * Returns the state after milliseconds of a monotonic clock, before anything is decided. It counts as held only between requests that are not
 * too far apart.
 */
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

type Text = (plan: RolloutPlan, state: RolloutState, view: RolloutView) => string

/** Says why a rollout is where it is, and what leads further. */
export const describeProgress: Text = (plan, state, view) => TEXTS[state.phase](plan, state, view)

const judged: Text = (plan, state, view) => {
  const step = stepOf(plan, state)
  const wanted = [
    ...(step.observations > 0 ? [`${count(observedIn(view))} of ${many(step.observations, 'observation')}`] : []),
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
  return 'no read shows what these writes did, so no observation will come: promote it, or give the step a hold instead'
}

/** What a person may do where a signal may last. */
const ADVICE: Partial<Record<SignalName, string>> = {
  inconclusive: ' If that takes too long, promote it, or give the operation a rule of its own before this one.',
}

const TEXTS: Readonly<Record<RolloutPhase, Text>> = {
  waiting: (_, { reason }) => reason,
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
    if (retried >= plan.retries) return `${reason} No retry is left, so a person must resume it.${advice}`
    return `${reason} It goes on by itself when that has ended.${advice}`
  },
  'turned-back': (plan, state, { open, stuck }) => {
    const { reason, retried, backMs } = state
    if (retried >= plan.retries) return `${reason} No retry is left, so a person must resume it.`
    if (stuck.length > 0) return `${reason} No answer can close the circuit of ${stuck.join(', ')}, so a person must resume it.`
    const circuits = Object.keys(open)
    if (circuits.length > 0)
      return `${reason} It tries again when ${circuits.length === 1 ? 'this circuit has' : 'these circuits have'} closed.`
    return `${reason} It tries again in ${describeDuration(Math.max(0, backOff(state) - backMs))}.`
  },
  done: (_, { reason }) => reason,
  aborted: (_, { reason }) => `${reason} Its share is 0. Other steps, or another name, start it again.`,
}

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
