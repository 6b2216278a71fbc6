import { createHash } from 'node:crypto'
import { z } from 'zod'

/** What a schema knows of a value that it refuses. */
interface Issue {
  readonly code?: string
  readonly input?: unknown
  readonly keys?: readonly string[]
}

/** Says what is wrong with a refused value: it is missing, it has a member too many, or what it must be. */
export const refused = (what: string) => ({
  error: ({ code, input, keys }: Issue) => {
    if (code === 'unrecognized_keys') return `has no member ${keys?.map((key) => JSON.stringify(key)).join(', ')}`
    return input === undefined ? 'is required' : what
  },
})

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const MOST_MS = 365 * 86_400_000

/** Returns the milliseconds of a duration such as `30m` or `1h`; undefined if it is none, or longer than 365 days. */
export function durationOf(text: string): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? []
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN)
  return ms <= MOST_MS ? ms : undefined
}

/** Describes milliseconds by their largest units: `1 h 30 min`, `45 s`. */
export function describeDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  const shown = first < 0 ? parts.slice(3) : parts.slice(first, first + 2)
  return shown
    .filter(([count], nth) => nth === 0 || count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** Bounds of what a configuration may ask for. Every rollout keeps counts of its own. */
export const MOST_ROLLOUTS = 10
const MOST_STEPS = 20

const WRONG_HOLD = 'must be a duration of at most 365 days, such as "90s", "30m", "1h" or "7d"'
const hold = z.string(refused(WRONG_HOLD)).refine((text) => durationOf(text) !== undefined, WRONG_HOLD)

const WRONG_TARGET = 'must be a share above 0 and below 1, such as 0.001'
const target = z.number(refused(WRONG_TARGET)).gt(0, WRONG_TARGET).lt(1, WRONG_TARGET)

const WRONG_PERCENT = 'must be a number above 0, and at most 100'
const WRONG_COUNT = 'must be a whole number from 1 to 1000000'
const WRONG_RETRIES = 'must be a whole number from 0 to 10'
const WRONG_STEPS = `must be a list of 1 to ${MOST_STEPS} steps`
const WRONG_NAME = 'must be 1 to 63 letters, digits, ".", "_" or "-", and begin with a letter or a digit'

const step = z
  .strictObject(
    {
      /** Share of the callers that get the mode of the canary. */
      percent: z.number(refused(WRONG_PERCENT)).gt(0, WRONG_PERCENT).max(100, WRONG_PERCENT),
      /** New observations of v2's answers to these callers that the step needs, all operations together. */
      observations: z.int(refused(WRONG_COUNT)).min(1, WRONG_COUNT).max(1_000_000, WRONG_COUNT).optional(),
      /** Time with traffic that the step needs. */
      hold: hold.optional(),
      /** Overrides the target of the rollout. */
      target: target.optional(),
    },
    refused('must be an object {"percent", "observations", "hold", "target"}'),
  )
  .refine(({ observations, hold: time }) => observations !== undefined || time !== undefined, 'needs observations, a hold or both')

/** The schema of `rollout` in the canary of a rule. */
export const rolloutSchema = z
  .strictObject(
    {
      /** The key of requests, metrics and notes. */
      name: z.string(refused(WRONG_NAME)).regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, WRONG_NAME),
      /** Acceptable share of wrong answers. */
      target: target.default(0.001),
      /** How often the rollout goes on by itself, after a guardrail has turned it back or a signal has paused it. */
      retries: z.int(refused(WRONG_RETRIES)).min(0, WRONG_RETRIES).max(10, WRONG_RETRIES).default(2),
      /** Time with traffic in which the rollout is still judged after its last step. */
      watch: hold.default('24h'),
      steps: z.array(step, refused(WRONG_STEPS)).min(1, WRONG_STEPS).max(MOST_STEPS, WRONG_STEPS),
    },
    refused('must be an object {"name", "target", "retries", "watch", "steps"}'),
  )
  .superRefine(({ steps }, check) => {
    for (const [at, { percent }] of steps.entries()) {
      const before = steps[at - 1]?.percent
      if (before === undefined || percent > before) continue
      check.addIssue({ code: 'custom', path: ['steps', at, 'percent'], message: `must be above ${before}, the percent of the step before` })
    }
  })

type RolloutRule = z.infer<typeof rolloutSchema>

/** One step with every figure that it needs. The time after the last step is one too. */
export interface PlannedStep {
  readonly percent: number
  readonly observations: number
  readonly holdMs: number
  readonly target: number
}

/** A rollout as the engine runs it. */
export interface RolloutPlan {
  readonly name: string
  /** Patterns of operations. */
  readonly operations: readonly string[]
  readonly steps: readonly PlannedStep[]
  /** What is watched after the last step. */
  readonly watch: PlannedStep
  readonly retries: number
  /** Tells this rollout from another one of the same name: a hash of its steps and of what they apply to. */
  readonly digest: string
}

interface Whose {
  readonly operations: string | readonly string[]
  readonly clients: string | readonly string[]
}

export function planOf(rollout: RolloutRule, { operations, clients }: Whose): RolloutPlan {
  const { name, target: usual, retries } = rollout
  const steps = rollout.steps.map(({ percent, observations = 0, hold: time, target: own = usual }) => {
    return { percent, observations, holdMs: time === undefined ? 0 : (durationOf(time) ?? 0), target: own }
  })
  const last = steps.at(-1) ?? { percent: 0, target: usual }
  const watch = { percent: last.percent, observations: 0, holdMs: durationOf(rollout.watch) ?? 0, target: last.target }
  const scope = { operations: [operations].flat(), clients: [clients].flat() }
  const digest = createHash('sha256')
    .update(JSON.stringify([steps, watch, retries, scope]))
    .digest('hex')
    .slice(0, 16)
  return { name, operations: scope.operations, steps, watch, retries, digest }
}

/**
 * - `waiting`: this replica has not heard from the store yet where it stands, so its share is 0 here. No fleet is in this phase.
 * - `running`: the share is that of the step, and the step is judged.
 * - `held`: no caller of the share sends anything, so that no time counts.
 * - `paused`: the share stays. A signal or a person paused it.
 * - `turned-back`: a guardrail set the share to 0.
 * - `watching`: the last step is over, and the rollout is still judged.
 * - `done`: the share of the last step stays.
 * - `aborted`: a person set the share to 0 for good.
 */
export const ROLLOUT_PHASES = ['waiting', 'running', 'held', 'paused', 'turned-back', 'watching', 'done', 'aborted'] as const

export type RolloutPhase = (typeof ROLLOUT_PHASES)[number]

/** What pauses a rollout. `machine.ts` says when. */
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

const WITHOUT_SHARE: ReadonlySet<RolloutPhase> = new Set<RolloutPhase>(['waiting', 'turned-back', 'aborted'])

/** Returns the share of the callers in force, 0–100. */
export function shareOf(plan: RolloutPlan, state: RolloutState): number {
  return WITHOUT_SHARE.has(state.phase) ? 0 : stepOf(plan, state).percent
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
