import { expect, it } from 'vitest'
import {
  describeState,
  firstState,
  planOf,
  type RolloutPhase,
  type RolloutPlan,
  type RolloutState,
} from '../../../src/migrate/rollout/plan.ts'
import { ROLLOUT_COMMANDS, steered } from '../../../src/migrate/rollout/run.ts'

const steps = [
  { percent: 1, hold: '1h' },
  { percent: 50, hold: '1h' },
]
const plan: RolloutPlan = planOf({ name: 'iam', target: 0.01, retries: 2, watch: '1h', steps }, { operations: 'iam.*', clients: '*' })
const inPhase = (phase: RolloutPhase, at = 0): RolloutState => ({
  ...firstState('x', 0),
  phase,
  at,
  heldMs: 5,
  retried: 1,
  ...(phase === 'paused' && { signal: 'records' }),
})
const steer = (state: RolloutState, command: (typeof ROLLOUT_COMMANDS)[number], open: readonly string[] = []) => {
  const result = steered(plan, state, command, { by: 'ops', open, now: 7 })
  return result === 'same' ? result : 'problem' in result ? result.problem : describeState(plan, result.state)
}

it.each([
  ['running', ['paused at step 1 of 2 (1 %)', 'same', 'running at step 2 of 2 (50 %)', 'aborted at step 1 of 2 (0 %)']],
  ['held', ['paused at step 1 of 2 (1 %)', 'same', 'running at step 2 of 2 (50 %)', 'aborted at step 1 of 2 (0 %)']],
  [
    'paused',
    ['paused at step 1 of 2 (1 %)', 'running at step 1 of 2 (1 %)', 'running at step 2 of 2 (50 %)', 'aborted at step 1 of 2 (0 %)'],
  ],
  [
    'turned-back',
    [
      'The rollout iam is turned back, and its share is 0: abort it if it must not try again.',
      'running at step 1 of 2 (1 %)',
      'The rollout iam is turned back: resume it first.',
      'aborted at step 1 of 2 (0 %)',
    ],
  ],
  [
    'aborted',
    [
      'The rollout iam is aborted: only other steps, or another name, start it again.',
      'The rollout iam is aborted: only other steps, or another name, start it again.',
      'The rollout iam is aborted: only other steps, or another name, start it again.',
      'same',
    ],
  ],
] as const)('commands of a rollout that is %s do what they can', (phase, results) => {
  expect(ROLLOUT_COMMANDS.map((command) => steer(inPhase(phase), command))).toEqual(results)
})

it.each([
  ['watching', ['paused (50 %)', 'same', 'done (50 %)', 'aborted (0 %)']],
  [
    'done',
    [
      'The rollout iam is done: abort it to set its share to 0.',
      'The rollout iam is done: nothing is left to resume.',
      'The rollout iam is done: nothing is left to promote.',
      'aborted (0 %)',
    ],
  ],
] as const)('commands of a rollout that is %s do what they can', (phase, results) => {
  expect(ROLLOUT_COMMANDS.map((command) => steer(inPhase(phase, 2), command))).toEqual(results)
})

it('a promotion leads from the last step to the watch', () => {
  expect(steer(inPhase('running', 1), 'promote')).toBe('watching (50 %)')
})

it('nothing is promoted while a circuit is open', () => {
  expect(steer(inPhase('running'), 'promote', ['iam.roles.list'])).toBe(
    'The rollout iam cannot be promoted: the circuit of iam.roles.list is open.',
  )
})

it('a second pause by a person changes nothing', () => {
  const paused = { ...inPhase('paused'), signal: undefined }
  expect(steer(paused, 'pause')).toBe('same')
})

it.each([
  ['records', { heldMs: 5, rounds: 1, stepsBegun: 1, runsBegun: 1 }],
  ['inconclusive', { heldMs: 5, rounds: 2, stepsBegun: 1, runsBegun: 1 }],
  ['share', { heldMs: 0, rounds: 1, stepsBegun: 2, runsBegun: 1 }],
  ['outside', { heldMs: 0, rounds: 1, stepsBegun: 2, runsBegun: 2 }],
] as const)('a person who resumes after the signal %s gives the retries back and settles it', (signal, settled) => {
  const result = steered(plan, { ...inPhase('paused'), signal }, 'resume', { by: 'ops', open: [], now: 7 })
  expect(result).toMatchObject({ state: { phase: 'running', at: 0, signal: undefined, retried: 0, since: 7, ...settled } })
})

it('a person who resumes after a guardrail begins a new run', () => {
  const result = steered(plan, { ...inPhase('turned-back', 1), opened: { a: 'b' } }, 'resume', { by: 'ops', open: ['a'], now: 7 })
  expect(result).toMatchObject({ state: { phase: 'running', at: 0, opened: {}, retried: 0, stepsBegun: 2, runsBegun: 2 } })
})
