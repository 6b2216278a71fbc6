import { expect, it } from 'vitest'
import { next, type RolloutView } from '../../../../src/migrate/rollout/machine.ts'
import { firstState, type RolloutState, shareOf } from '../../../../src/migrate/rollout/plan.ts'
import { ROLLOUT_COMMANDS, steered } from '../../../../src/migrate/rollout/run.ts'
import { seeded } from '../../../stage/seeded.ts'
import { operation, PLAN, proven, viewOn } from '../given.ts'

const SEED = Number(process.env.CROSSWALK_SEED ?? 1)
const LIVES = 60
const LOOKS = 100

const OPEN = { 'iam.a': 'errors' }

const GOOD = [viewOn({ operations: [proven()] }), viewOn({ operations: [proven()] })]
const ANY: readonly RolloutView[] = [
  ...GOOD,
  viewOn(),
  viewOn({ open: OPEN }),
  viewOn({ unwritten: 'ENOSPC' }),
  viewOn({ operations: [operation({ observations: { n: 10, bad: 3 } })] }),
]
const SILENT = viewOn({ requests: 0 })

const shares = [...PLAN.steps.map(({ percent }) => percent), PLAN.watch.percent]
const isSignalled = (view: RolloutView) => view.unwritten !== undefined || view.operations.some(({ step }) => step.observations.bad > 0)

function live(seed: number, views: readonly RolloutView[], random = seeded(seed)) {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  let state = firstState('x', 0)
  let moves = 0
  const looked = (check: (before: RolloutState, after: RolloutState, view: RolloutView) => void) => {
    const view = pick(views)
    // A gap of more than ten minutes would not count.
    const { state: after, by } = next(PLAN, state, { view, elapsedMs: pick([1000, 600_000]), now: 0 })
    check(state, after, view)
    if (by) moves += 1
    state = after
  }
  const commanded = () => {
    const result = steered(PLAN, state, pick(ROLLOUT_COMMANDS), { by: 'ops', open: [], now: 0 })
    if (result !== 'same' && 'state' in result) state = result.state
  }
  return { random, looked, commanded, state: () => state, moves: () => moves }
}

it(`never raises a share against a guardrail or a signal, nor above its step (seed ${SEED})`, () => {
  const wrong: object[] = []
  for (let nth = 0; nth < LIVES; nth += 1) {
    const life = live(SEED * 1000 + nth, [...ANY, SILENT])
    for (let look = 0; look < LOOKS; look += 1) {
      if (life.random() < 0.05) life.commanded()
      life.looked((before, after, view) => {
        const [from, to] = [shareOf(PLAN, before), shareOf(PLAN, after)]
        const isWithin = to <= (shares[after.at] ?? 0) && after.at <= before.at + 1 && after.retried <= PLAN.retries
        const isBack = !view.open['iam.a'] || after.phase === 'done' || to === 0
        const isStill = !isSignalled(view) || before.phase === 'turned-back' || to <= from
        if (!isWithin || !isBack || !isStill) wrong.push({ before, after, view })
      })
    }
  }
  expect(wrong).toEqual([])
})

it(`ends in a bounded number of moves while there are requests (seed ${SEED})`, () => {
  const most = (PLAN.retries + 1) * (PLAN.steps.length + 2) + PLAN.retries
  for (let nth = 0; nth < LIVES; nth += 1) {
    const life = live(SEED * 1000 + nth, ANY)
    for (let look = 0; look < LOOKS; look += 1) life.looked(() => {})
    expect(life.moves()).toBeLessThanOrEqual(most)
  }
})

it(`is done at last if nothing is wrong (seed ${SEED})`, () => {
  const life = live(SEED, GOOD)
  for (let look = 0; look < 2 * LOOKS; look += 1) life.looked(() => {})
  expect([life.state().phase, life.moves()]).toEqual(['done', PLAN.steps.length + 1])
})
