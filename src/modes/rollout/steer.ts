import type { RolloutPlan } from './rollout-plan.ts'
import { goingAt, type RolloutPhase, type RolloutState, runBegins, type SignalName, stepBegins } from './rollout-state.ts'

/** What a person may ask of a rollout. */
export const ROLLOUT_COMMANDS = ['pause', 'resume', 'promote', 'abort'] as const

export type RolloutCommand = (typeof ROLLOUT_COMMANDS)[number]

/** What the command meets. */
export interface Steering {
  /** Who gave the command: `admin port, token ops`. */
  readonly by: string
  /** Operations of the rollout with an open circuit. */
  readonly open: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The state after the command; why it makes no sense; or `same` if the rollout is in that state already. */
export type Steered = { readonly state: RolloutState } | { readonly problem: string } | 'same'

type Move = (plan: RolloutPlan, state: RolloutState, steering: Steering) => Partial<RolloutState> & Pick<RolloutState, 'phase' | 'reason'>

const pause: Move = (_, __, { by }) => ({ phase: 'paused', signal: undefined, reason: `Paused by ${by}.` })

/** What a person who resumes says of the signal that paused it. Without this, it would pause at the next look again. */
const SETTLED: Partial<Record<SignalName, (plan: RolloutPlan, state: RolloutState) => Partial<RolloutState>>> = {
  outside: (plan, state) => ({ ...stepBegins(plan, state.at, state), runsBegun: state.runsBegun + 1 }),
  share: (plan, state) => stepBegins(plan, state.at, state),
  inconclusive: (_, { rounds }) => ({ rounds: rounds + 1 }),
}

const resume: Move = (plan, state, { by }) => ({
  ...(state.signal && SETTLED[state.signal]?.(plan, state)),
  phase: goingAt(plan, state.at),
  signal: undefined,
  quietMs: 0,
  retried: 0,
  reason: `Resumed by ${by}.`,
})

const restart: Move = (plan, state, { by }) => ({
  ...runBegins(plan, state),
  retried: 0,
  reason: `Resumed by ${by} from the first step, with closed circuits.`,
})

const promote: Move = (plan, state, { by }) => {
  const reason = `Promoted by ${by}, whatever the evidence says.`
  return state.at < plan.steps.length ? { ...stepBegins(plan, state.at + 1, state), reason } : { phase: 'done', signal: undefined, reason }
}

const abort: Move = (_, __, { by }) => ({ phase: 'aborted', signal: undefined, reason: `Aborted by ${by}.` })

const OVER = 'is aborted: only other steps, or another name, start it again'

/** What each command means in each phase: a move, `same`, or why it makes no sense. */
const MEANINGS: Readonly<Record<RolloutCommand, Readonly<Record<RolloutPhase, Move | string>>>> = {
  pause: {
    running: pause,
    held: pause,
    watching: pause,
    paused: pause,
    'turned-back': 'is turned back, and its share is 0: abort it if it must not try again',
    done: 'is done: abort it to set its share to 0',
    aborted: OVER,
  },
  resume: {
    running: 'same',
    held: 'same',
    watching: 'same',
    paused: resume,
    'turned-back': restart,
    done: 'is done: nothing is left to resume',
    aborted: OVER,
  },
  promote: {
    running: promote,
    held: promote,
    watching: promote,
    paused: promote,
    'turned-back': 'is turned back: resume it first',
    done: 'is done: nothing is left to promote',
    aborted: OVER,
  },
  abort: { running: abort, held: abort, watching: abort, paused: abort, 'turned-back': abort, done: abort, aborted: 'same' },
}

/** Returns what a command makes of a rollout. */
export function steered(plan: RolloutPlan, state: RolloutState, command: RolloutCommand, steering: Steering): Steered {
  const meaning = MEANINGS[command][state.phase]
  if (meaning === 'same' || (command === 'pause' && state.phase === 'paused' && !state.signal)) return 'same'
  if (typeof meaning === 'string') return { problem: `The rollout ${plan.name} ${meaning}.` }
  if (command === 'promote' && steering.open.length > 0) {
    return { problem: `The rollout ${plan.name} cannot be promoted: the circuit of ${steering.open.join(', ')} is open.` }
  }
  const moved = meaning(plan, state, steering)
  return { state: { ...state, since: steering.now, ...moved } }
}
