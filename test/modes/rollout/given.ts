import { noEvidence } from '../../../src/migrate/evidence/evidence.ts'
import type { OperationView, RolloutView } from '../../../src/migrate/rollout/machine.ts'
import { firstState, planOf, type RolloutPhase, type RolloutPlan, type RolloutState } from '../../../src/migrate/rollout/plan.ts'

export const HOUR = 3_600_000

/** 1 % for 100 observations, 50 % for an hour, and an hour of watching; two retries. */
export const PLAN: RolloutPlan = planOf(
  {
    name: 'iam',
    target: 0.01,
    retries: 2,
    watch: '1h',
    steps: [
      { percent: 1, observations: 100 },
      { percent: 50, hold: '1h' },
    ],
  },
  { operations: 'iam.*', clients: '*' },
)

export const stateIn = (phase: RolloutPhase, more: Partial<RolloutState> = {}): RolloutState => ({ ...firstState('x', 0), phase, ...more })

const { n, bad } = noEvidence('x')

/** An operation that had requests, with this evidence in the step and in the run. */
export const operation = (more: Partial<OperationView> & Partial<OperationView['step']> = {}): OperationView => {
  const { requests = 1, observations = { n, bad }, comparisons = observations, ...rest } = more
  const failures = { n: 0, bad: 0 }
  return {
    operation: 'iam.a',
    canBeJudged: true,
    run: observations,
    alone: 0,
    failures,
    ...rest,
    step: { requests, observations, comparisons },
  }
}

/** An operation inside 1 %, with enough observations for the first step. */
export const proven = (more: Parameters<typeof operation>[0] = {}) =>
  operation({ observations: { n: 100, bad: 0 }, run: { n: 400, bad: 0 }, ...more })

/** A view with traffic and nothing wrong. */
export const viewOn = (more: Partial<RolloutView> = {}): RolloutView => ({
  operations: [operation()],
  unused: 0,
  open: {},
  stuck: [],
  requests: 1,
  unjudged: { requests: 0, ms: 0 },
  ratio: undefined,
  unwritten: undefined,
  ...more,
})
