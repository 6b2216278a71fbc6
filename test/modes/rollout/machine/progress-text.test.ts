import { expect, it } from 'vitest'
import { describeProgress } from '../../../../src/migrate/rollout/machine.ts'
import { HOUR, operation, PLAN, proven, stateIn, viewOn } from '../given.ts'

const wrong = operation({ observations: { n: 10, bad: 3 } })
const weak = ['a', 'b', 'c', 'd'].map((name) => operation({ operation: `iam.${name}`, observations: { n: 9, bad: 0 } }))
const stuck = { open: { 'iam.w': 'errors' }, stuck: ['iam.w'] }

it.each([
  [
    'running',
    stateIn('running'),
    viewOn({ operations: [], unused: 1 }),
    'Step 1 of 2 at 1 %: 0 of 100 observations; no caller of the share has sent a request yet.',
  ],
  [
    'running',
    stateIn('running'),
    viewOn({ operations: [] }),
    '0 of 100 observations; no request can come: its operations fit nothing that v2 has, or a rule before it takes them.',
  ],
  [
    'running',
    stateIn('running'),
    viewOn({ operations: [operation({ canBeJudged: false })] }),
    '0 of 100 observations; no read shows what these writes did, so no observation will come: promote it, or give the step a hold instead.',
  ],
  [
    'running',
    stateIn('running'),
    viewOn({ operations: [wrong] }),
    '10 of 100 observations; iam.a was wrong in 3 of 10 observations of this step (target 1 %).',
  ],
  [
    'running',
    stateIn('running', { at: 1, heldMs: HOUR / 2 }),
    viewOn({ operations: weak }),
    'Step 2 of 2 at 50 %: 30 min of 1 h with traffic; iam.a has a bound of 36.5 % and needs 320 more clean observations; iam.b has a bound of 36.5 % and needs 320 more clean observations; iam.c has a bound of 36.5 % and needs 320 more clean observations; 1 more (target 1 %).',
  ],
  ['watching', stateIn('watching', { at: 2 }), viewOn({ operations: [proven()] }), 'The last step is over: 0 s of 1 h with traffic.'],
  [
    'held',
    stateIn('held'),
    viewOn({
      ratio: { callers: 20, got: 0, share: 0.1, requests: { got: 0, other: 20 }, isOff: false, reason: '0 of 20 callers got the canary' },
    }),
    'x The time does not count. In this step 0 of 20 callers got the canary. If none of its clients is in the share, promote it.',
  ],
  [
    'paused',
    stateIn('paused', { signal: 'inconclusive' }),
    viewOn(),
    'x It goes on by itself when that has ended. If that takes too long, promote it, or give the operation a rule of its own before this one.',
  ],
  ['paused', stateIn('paused'), viewOn(), 'x A person must resume it.'],
  ['paused', stateIn('paused', { signal: 'records' }), viewOn(), 'x It goes on by itself when that has ended.'],
  [
    'paused',
    stateIn('paused', { signal: 'records' }),
    viewOn({ operations: [wrong] }),
    'x iam.a was wrong in 3 of 10 observations of this step, which proves more than 1 %. It goes on by itself when that has ended.',
  ],
  ['paused', stateIn('paused', { signal: 'records', retried: 2 }), viewOn(), 'x No retry is left, so a person must resume it.'],
  ['turned back', stateIn('turned-back', { backMs: 60_000 }), viewOn(), 'x It tries again in 9 min.'],
  ['turned back', stateIn('turned-back'), viewOn({ open: { a: 'b', c: 'd' } }), 'x It tries again when these circuits have closed.'],
  ['turned back', stateIn('turned-back'), viewOn(stuck), 'x No answer can close the circuit of iam.w, so a person must resume it.'],
  ['turned back', stateIn('turned-back', { retried: 2 }), viewOn(), 'x No retry is left, so a person must resume it.'],
  ['done', stateIn('done'), viewOn(), 'x'],
  ['aborted', stateIn('aborted'), viewOn(), 'x Its share is 0. Other steps, or another name, start it again.'],
])('the reason of a rollout that is %s says what leads further', (_, state, view, text) => {
  const said = describeProgress(PLAN, state, view)
  expect(said.startsWith('x')).toBe(true)
  expect(said).toContain(text)
})
