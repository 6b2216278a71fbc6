import { expect, it } from 'vitest'
import type { Observation } from '../../../src/migrate/evidence/evidence.ts'
import { createStepEvidence } from '../../../src/migrate/rollout/evidence.ts'

let ticks = 0
const evidence = () => {
  ticks = 0
  return createStepEvidence({ percent: 10, ticks: () => ticks })
}
const seen = (outcome: Observation['outcome'], shape = 'a'): Observation => ({ operation: 'iam.a', caller: 'c', shape, outcome })

it('counts each pair once in ten minutes as an observation, and every comparison', () => {
  const step = evidence()
  step.used('iam.a', true)
  for (const outcome of ['match', 'mismatch', 'match'] as const) step.compared(seen(outcome))
  step.compared(seen('error', 'b'))
  ticks = 600_000
  step.compared(seen('mismatch'))
  expect(step.counts()).toEqual({ 'iam.a': { requests: 1, observations: { n: 3, bad: 2 }, comparisons: { n: 5, bad: 3 } } })
})

it('counts nothing of a race or of an open question', () => {
  const step = evidence()
  for (const outcome of ['race', 'inconclusive'] as const) step.compared(seen(outcome))
  expect(step.counts()).toEqual({})
})

it('tells how many requests in a row were not judged, and for how long', () => {
  const step = evidence()
  ticks = 1000
  for (let nth = 0; nth < 3; nth += 1) step.used('iam.a', true)
  step.used('iam.write', false)
  step.compared(seen('inconclusive'))
  ticks = 5000
  expect(step.sinceLook()).toEqual({ requests: 4, unjudged: { requests: 3, ms: 4000 }, isWorse: false })
  step.compared(seen('match'))
  ticks = 9000
  expect(step.sinceLook()).toEqual({ requests: 0, unjudged: { requests: 0, ms: 0 }, isWorse: false })
  step.used('iam.a', true)
  step.forgive()
  expect(step.sinceLook().unjudged.requests).toBe(0)
})

it('tells once that something bad was seen', () => {
  const step = evidence()
  step.compared(seen('mismatch'))
  expect([step.sinceLook().isWorse, step.sinceLook().isWorse]).toEqual([true, false])
})

it('goes on with recorded counts, and knows a poll that was remembered', () => {
  const step = evidence()
  step.remember(seen('match'), 60_000)
  step.restore({ 'iam.a': { requests: 7, observations: { n: 5, bad: 1 }, comparisons: { n: 6, bad: 1 } } })
  step.compared(seen('match'))
  expect(step.counts()).toEqual({ 'iam.a': { requests: 7, observations: { n: 5, bad: 1 }, comparisons: { n: 7, bad: 1 } } })
})
