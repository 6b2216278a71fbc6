import { describe, expect, it } from 'vitest'
import { next, type RolloutView } from '../../../../src/migrate/rollout/machine.ts'
import { describeState, ROLLOUT_PHASES, type RolloutPhase, type RolloutState } from '../../../../src/migrate/rollout/plan.ts'
import { HOUR, operation, PLAN, proven, stateIn, viewOn } from '../given.ts'

const OFF = { callers: 900, got: 1, share: 0.1, requests: { got: 1, other: 899 }, isOff: true, reason: '1 of 900 callers' }

/** What can be seen at a look, each thing alone. */
const EVENTS = {
  'requests alone': viewOn(),
  'no request': viewOn({ requests: 0 }),
  'an open circuit': viewOn({ open: { 'iam.a': 'errors: 4 of 4' } }),
  'wrong observations': viewOn({ operations: [operation({ observations: { n: 10, bad: 3 } })] }),
  'a share that is off': viewOn({ ratio: OFF }),
  'nothing judged': viewOn({ unjudged: { requests: 500, ms: 60_000 } }),
  'a full disk': viewOn({ unwritten: 'ENOSPC' }),
  'enough evidence': viewOn({ operations: [proven()] }),
} satisfies Record<string, RolloutView>

const EVERY: readonly (keyof typeof EVENTS)[] = Object.keys(EVENTS) as (keyof typeof EVENTS)[]

/** The phase after each event, in the order of `EVENTS`. */
const MEANT: Readonly<Record<string, { readonly state: RolloutState; readonly phases: readonly RolloutPhase[] }>> = {
  'not heard of': { state: stateIn('waiting'), phases: Array(8).fill('waiting') },
  running: {
    state: stateIn('running'),
    phases: ['running', 'running', 'turned-back', 'paused', 'paused', 'paused', 'paused', 'running'],
  },
  'running without requests for long': {
    state: stateIn('running', { quietMs: 600_000 }),
    phases: ['running', 'held', 'turned-back', 'paused', 'paused', 'paused', 'paused', 'running'],
  },
  held: { state: stateIn('held'), phases: ['running', 'held', 'turned-back', 'running', 'running', 'running', 'running', 'running'] },
  'paused by a signal': {
    state: stateIn('paused', { signal: 'records' }),
    phases: ['running', 'running', 'turned-back', 'paused', 'paused', 'paused', 'paused', 'running'],
  },
  'paused by a signal without a retry left': {
    state: stateIn('paused', { signal: 'records', retried: 2 }),
    phases: ['paused', 'paused', 'turned-back', 'paused', 'paused', 'paused', 'paused', 'paused'],
  },
  'paused by a person': {
    state: stateIn('paused'),
    phases: ['paused', 'paused', 'turned-back', 'paused', 'paused', 'paused', 'paused', 'paused'],
  },
  'turned back just now': { state: stateIn('turned-back'), phases: Array(8).fill('turned-back') },
  'turned back for the back-off': {
    state: stateIn('turned-back', { backMs: 600_000 }),
    phases: ['running', 'running', 'turned-back', 'running', 'running', 'running', 'running', 'running'],
  },
  'turned back without a retry left': {
    state: stateIn('turned-back', { backMs: 24 * HOUR, retried: 2 }),
    phases: Array(8).fill('turned-back'),
  },
  watching: {
    state: stateIn('watching', { at: 2, heldMs: HOUR }),
    phases: ['watching', 'watching', 'turned-back', 'paused', 'paused', 'paused', 'paused', 'done'],
  },
  done: { state: stateIn('done', { at: 2 }), phases: Array(8).fill('done') },
  aborted: { state: stateIn('aborted'), phases: Array(8).fill('aborted') },
}

const look = (state: RolloutState, view: RolloutView, elapsedMs = 1000) => next(PLAN, state, { view, elapsedMs, now: 5 })

describe.each(Object.entries(MEANT))('a rollout that is %s', (_, { state, phases }) => {
  it.each(EVERY.map((event, nth) => [event, phases[nth]] as const))('after %s is %s', (event, phase) => {
    const { state: after, by } = look(state, EVENTS[event])
    expect(after.phase).toBe(phase)
    const isMoved = after.phase !== state.phase || after.at !== state.at
    expect([by !== undefined, after.since]).toEqual(isMoved ? [true, 5] : [false, 0])
    if (isMoved) expect(after.reason).toMatch(/^\S.*\.$/)
  })
})

it('the table of events covers every phase', () => {
  expect(new Set(Object.values(MEANT).map(({ state }) => state.phase))).toEqual(new Set(ROLLOUT_PHASES))
})

describe('a step', () => {
  const whereAfter = (state: RolloutState, view: RolloutView) => describeState(PLAN, look(state, view).state)

  it('advances with its observations, its time and a bound inside its target', () => {
    expect(whereAfter(stateIn('running'), viewOn({ operations: [proven()] }))).toBe('running at step 2 of 2 (50 %)')
    expect(whereAfter(stateIn('running', { at: 1, heldMs: HOUR }), viewOn({ operations: [proven()] }))).toBe('watching (50 %)')
  })

  it.each([
    ['its observations', stateIn('running'), [proven({ observations: { n: 99, bad: 0 } })]],
    ['its time', stateIn('running', { at: 1, heldMs: HOUR - 2000 }), [proven()]],
    ['a bound inside its target', stateIn('running'), [proven({ run: { n: 300, bad: 0 } })]],
    ['the bound of each operation', stateIn('running'), [proven(), operation({ operation: 'iam.b', observations: { n: 1, bad: 0 } })]],
    ['an observation of each operation', stateIn('running'), [proven(), operation({ run: { n: 9999, bad: 0 } })]],
    ['a clean step, whatever was before', stateIn('running'), [proven({ observations: { n: 150, bad: 2 }, run: { n: 99_999, bad: 2 } })]],
    ['clean repeats', stateIn('running'), [proven({ comparisons: { n: 150, bad: 2 }, run: { n: 99_999, bad: 0 } })]],
  ])('waits for %s', (_, state, operations) => {
    expect(look(state, viewOn({ operations })).by).toBeUndefined()
  })

  it('adds the observations of its operations, and asks nothing of one without requests', () => {
    const operations = [proven({ observations: { n: 60, bad: 0 } }), proven({ operation: 'iam.b', observations: { n: 40, bad: 0 } })]
    const { state } = look(stateIn('running'), viewOn({ operations, unused: 7 }))
    expect(state).toMatchObject({
      at: 1,
      reason: '2 operations inside 1 % after 100 observations and 1 s with traffic; 7 without requests.',
    })
  })

  it('asks no evidence of a write that no read can show, unless v2 fails it', () => {
    const write = (wrong: number) => operation({ operation: 'iam.w', canBeJudged: false, observations: { n: wrong, bad: wrong } })
    expect(look(stateIn('running'), viewOn({ operations: [proven(), write(0)] })).state.at).toBe(1)
    expect(look(stateIn('running'), viewOn({ operations: [proven(), write(1)] })).state.phase).toBe('paused')
  })

  it('waits while v2 alone refuses more of it than the target allows', () => {
    const [few, many] = [proven({ run: { n: 9999, bad: 2 }, alone: 2 }), proven({ run: { n: 400, bad: 5 }, alone: 5 })]
    const unread = (alone: number) =>
      operation({ operation: 'iam.w', canBeJudged: false, requests: 400, run: { n: alone, bad: alone }, alone })
    expect(look(stateIn('running'), viewOn({ operations: [few, unread(4)] })).state.at).toBe(1)
    const { state } = look(stateIn('running', { heldMs: 4 * HOUR }), viewOn({ operations: [many, unread(5)] }))
    expect(state).toMatchObject({ at: 0, phase: 'paused', signal: 'inconclusive' })
    expect(state.reason).toContain(
      'iam.a has a bound of 3.71 % and needs 1,086 more clean observations, as v2 alone left 5 requests of it without a comparison: see uncompared in /evidence; iam.w may be wrong, as v2 alone left 5 requests of it',
    )
  })

  it('is paused as inconclusive after three more hours with traffic, and goes on when the bound is inside', () => {
    const weak = viewOn({ operations: [proven({ run: { n: 300, bad: 0 } })] })
    expect(look(stateIn('running', { heldMs: 3 * HOUR - 2000 }), weak).by).toBeUndefined()
    const { state } = look(stateIn('running', { heldMs: 3 * HOUR }), weak)
    expect(state).toMatchObject({ phase: 'paused', signal: 'inconclusive' })
    expect(state.reason).toBe(
      'Inconclusive after 3 h with traffic: iam.a has a bound of 1.09 % and needs 29 more clean observations (target 1 %).',
    )
    expect(look(state, viewOn({ operations: [proven()] })).state).toMatchObject({ phase: 'running', at: 0, retried: 1 })
  })

  it.each([
    [50, 'percent 50.'],
    [100, 'percent 100, or as plain mode.'],
  ])('at %d %% says how the rule can be written once it is done', (percent, text) => {
    const plan = { ...PLAN, watch: { ...PLAN.watch, percent } }
    const state = stateIn('watching', { at: 2, heldMs: HOUR })
    const { reason } = next(plan, state, { view: viewOn({ operations: [proven()] }), elapsedMs: 1000, now: 1 }).state
    expect(reason.endsWith(`The rule can now be written with ${text}`)).toBe(true)
  })

  it('is paused by failures of v2 that do not open the circuit', () => {
    const failing = operation({ failures: { n: 2, bad: 2 } })
    expect(look(stateIn('running'), viewOn({ operations: [failing] })).state).toMatchObject({
      signal: 'fallbacks',
      reason: 'v2 failed 2 of the last 2 answers of iam.a.',
    })
  })
})

describe('time', () => {
  it('counts between requests, and not after a gap of more than ten minutes', () => {
    const silent = look(stateIn('running', { at: 1 }), viewOn({ requests: 0 }), 599_000).state
    expect(look(silent, viewOn(), 1000).state).toMatchObject({ heldMs: 600_000, quietMs: 0 })
    expect(look(silent, viewOn(), 1001).state).toMatchObject({ heldMs: 0, quietMs: 0, phase: 'running' })
  })

  it('does not count while the rollout is held or paused', () => {
    for (const phase of ['held', 'paused'] as const) expect(look(stateIn(phase), viewOn(), 9000).state.heldMs).toBe(0)
  })

  it('of the back-off doubles with each retry, and counts from the guardrail on', () => {
    const back = look(stateIn('running', { backMs: 9e9 }), EVENTS['an open circuit']).state
    expect(back).toMatchObject({ phase: 'turned-back', backMs: 0, opened: { 'iam.a': 'errors: 4 of 4' } })
    expect(look(back, viewOn(), 599_999).by).toBeUndefined()
    expect(look(back, viewOn(), 600_000).state).toMatchObject({ phase: 'running', at: 0, retried: 1, opened: {}, runsBegun: 2 })
    expect(look({ ...back, retried: 1 }, viewOn(), 1_199_999).by).toBeUndefined()
    expect(look({ ...back, retried: 1 }, viewOn(), 1_200_000).state).toMatchObject({ phase: 'running', retried: 2 })
  })
})

it('what a person paused and a guardrail turned back does not go on by itself', () => {
  const back = look(stateIn('paused'), EVENTS['an open circuit']).state
  expect(look(back, viewOn(), 24 * HOUR).state.phase).toBe('turned-back')
})
