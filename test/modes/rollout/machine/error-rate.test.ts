import { expect, it } from 'vitest'
import { next } from '../../../../src/migrate/rollout/machine.ts'
import { firstState, type RolloutState } from '../../../../src/migrate/rollout/plan.ts'
import { seeded } from '../../../stage/seeded.ts'
import { operation, PLAN, viewOn } from '../given.ts'

const SEED = Number(process.env.CROSSWALK_SEED ?? 1)
const RUNS = 150
/** Two standard deviations of the share of the runs, at 5 %. */
const CHANCE = 2 * Math.sqrt((0.05 * 0.95) / RUNS)
const OBSERVATIONS = 1_500

/** Lets v2 be wrong at this rate, with 20 observations between two looks. Returns the state at the end. */
function run(random: () => number, rate: number, observations = OBSERVATIONS): RolloutState {
  let state = firstState('x', 0)
  let [step, all] = [
    { n: 0, bad: 0 },
    { n: 0, bad: 0 },
  ]
  while (all.n < observations) {
    let bad = 0
    for (let nth = 0; nth < 20; nth += 1) if (random() < rate) bad += 1
    all = { n: all.n + 20, bad: all.bad + bad }
    step = { n: step.n + 20, bad: step.bad + bad }
    const view = viewOn({ operations: [operation({ observations: step, run: all })] })
    const { state: after } = next(PLAN, state, { view, elapsedMs: 120_000, now: 0 })
    if (after.stepsBegun !== state.stepsBegun) step = { n: 0, bad: 0 }
    // A person would resume it at once, and believe nothing.
    state = after.phase === 'paused' ? { ...after, phase: 'running', signal: undefined } : after
  }
  return state
}

it(`a v2 that is just too wrong passes a step in 5 % of the runs at most (seed ${SEED})`, () => {
  const random = seeded(SEED)
  const passed = Array.from({ length: RUNS }, () => run(random, PLAN.steps[0]?.target ?? 0)).filter(({ at }) => at > 0)
  expect(passed.length / RUNS).toBeLessThanOrEqual(0.05 + CHANCE)
})

it(`a v2 that is right enough is let through usually (seed ${SEED})`, () => {
  const random = seeded(SEED)
  const passed = Array.from({ length: RUNS }, () => run(random, 0.001)).filter(({ phase }) => phase === 'watching' || phase === 'done')
  expect(passed.length / RUNS).toBeGreaterThan(0.75)
})

it.each([
  [0.5, 0.95, 1],
  [0.9, 0, 0.4],
])(`a v2 at %d of the target passes as often as evidence §10 says (seed ${SEED})`, (part, least, most) => {
  const random = seeded(SEED)
  const passed = Array.from({ length: 40 }, () => run(random, part * (PLAN.steps[0]?.target ?? 0), 15_000)).filter(({ at }) => at > 0)
  expect(passed.length / 40).toBeGreaterThanOrEqual(least)
  expect(passed.length / 40).toBeLessThanOrEqual(most)
})
