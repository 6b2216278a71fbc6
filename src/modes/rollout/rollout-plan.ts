import { createHash } from 'node:crypto'
import { z } from 'zod'
import { refused } from '../choose/refused.ts'
import { durationOf } from './duration.ts'

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

export type RolloutRule = z.infer<typeof rolloutSchema>

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
