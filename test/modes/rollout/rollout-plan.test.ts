import { describe, expect, it } from 'vitest'
import { readModeRules } from '../../../src/migrate/modes/rules.ts'
import { describeDuration, durationOf, planOf } from '../../../src/migrate/rollout/plan.ts'

const STEPS = [
  { percent: 1, observations: 200 },
  { percent: 100, hold: '1h', target: 0.01 },
]
const rule = (rollout: object, more: object = {}) => ({
  operations: 'iam.*',
  mode: 'diff-v1',
  canary: { mode: 'diff-v2', rollout: { name: 'iam', steps: STEPS, ...rollout }, ...more },
})
const problemOf = (...rules: object[]) => {
  const read = readModeRules({ default: 'diff-v1', rules })
  return 'problem' in read ? read.problem : undefined
}

it('a rollout is read with its defaults, and planned in milliseconds', () => {
  const read = readModeRules({ default: 'diff-v1', rules: [rule({})] })
  if ('problem' in read) throw new Error(read.problem)
  const [first] = read.rules
  expect(first?.canary?.rollout).toEqual({ name: 'iam', target: 0.001, retries: 2, watch: '24h', steps: STEPS })
  if (!first?.canary?.rollout) throw new Error('no rollout')
  expect(planOf(first.canary.rollout, first)).toMatchObject({
    operations: ['iam.*'],
    steps: [
      { percent: 1, observations: 200, holdMs: 0, target: 0.001 },
      { percent: 100, observations: 0, holdMs: 3_600_000, target: 0.01 },
    ],
    watch: { percent: 100, observations: 0, holdMs: 86_400_000, target: 0.01 },
  })
})

describe('a wrong rollout is refused', () => {
  const ROLLOUT = 'rules.0.canary.rollout'
  it.each([
    ['without a name', [rule({ name: undefined })], `${ROLLOUT}.name is required`],
    ['with a name that is no part of a path', [rule({ name: 'a/b' })], `${ROLLOUT}.name must be 1 to 63 letters`],
    ['without steps', [rule({ steps: [] })], `${ROLLOUT}.steps must be a list of 1 to 20 steps`],
    ['with too many steps', [rule({ steps: Array(21).fill(STEPS[0]) })], `${ROLLOUT}.steps must be a list of 1 to 20 steps`],
    ['with a step that shrinks', [rule({ steps: [...STEPS].reverse() })], `${ROLLOUT}.steps.1.percent must be above 100,`],
    ['with a step that stays', [rule({ steps: [STEPS[0], STEPS[0]] })], `${ROLLOUT}.steps.1.percent must be above 1, the percent of`],
    ['with a step of 0 %', [rule({ steps: [{ percent: 0, hold: '1h' }] })], `${ROLLOUT}.steps.0.percent must be a number above 0`],
    ['with a step that wants nothing', [rule({ steps: [{ percent: 1 }] })], `${ROLLOUT}.steps.0 needs observations, a hold or both`],
    ['with half an observation', [rule({ steps: [{ percent: 1, observations: 0.5 }] })], `${ROLLOUT}.steps.0.observations must be a whole`],
    ['with a hold without a unit', [rule({ steps: [{ percent: 1, hold: '30' }] })], `${ROLLOUT}.steps.0.hold must be a duration`],
    ['with a target of 0', [rule({ target: 0 })], `${ROLLOUT}.target must be a share above 0 and below 1`],
    ['with a watch of a number', [rule({ watch: 24 })], `${ROLLOUT}.watch must be a duration`],
    ['with a negative number of retries', [rule({ retries: -1 })], `${ROLLOUT}.retries must be a whole number from 0 to 10`],
    ['with an unknown member', [rule({ speed: 1 })], `${ROLLOUT} has no member "speed"`],
    ['with an unknown member of a step', [rule({ steps: [{ ...STEPS[0], wait: 1 }] })], `${ROLLOUT}.steps.0 has no member "wait"`],
    ['that is not an object', [rule({}, { rollout: 'iam' })], `${ROLLOUT} must be an object {"name",`],
    ['beside a percent', [rule({}, { percent: 5 })], 'rules.0.canary.percent must be left out beside a rollout'],
    ['to a mode that compares nothing', [rule({}, { mode: 'v2' })], 'rules.0.canary.mode must be diff-v2 beside a rollout'],
    ['from v2', [{ ...rule({}), mode: 'v2' }], 'rules.0.mode must be v1 or diff-v1 beside a rollout'],
    ['of a name that is taken', [rule({}), rule({})], 'rules.1.canary.rollout.name is the name of an earlier rollout too'],
    [
      'beyond the tenth',
      Array.from({ length: 11 }, (_, nth) => rule({ name: `r${nth}` })),
      'rules.10.canary.rollout.name is one too many: 10 are allowed',
    ],
    ['that is left out of its canary', [{ mode: 'v1', canary: { mode: 'v2' } }], 'rules.0.canary.percent must be a number from 0 to 100'],
  ])('%s', (_, rules, problem) => {
    expect(problemOf(...rules)).toContain(problem)
  })
})

it.each([
  ['90s', 90_000, '1 min 30 s'],
  ['30m', 1_800_000, '30 min'],
  ['36h', 129_600_000, '1 d 12 h'],
  ['365d', 31_536_000_000, '365 d'],
])('a duration of %s is %i ms, in words %s', (text, ms, words) => {
  expect([durationOf(text), describeDuration(ms)]).toEqual([ms, words])
})

it.each(['0s', '366d', '1.5h', '-1m', 'PT1H', '1w', ''])('%j is no duration', (text) => {
  expect(durationOf(text)).toBeUndefined()
})

it('a rollout that is written otherwise is the same, and one with another step, retry or scope is not', () => {
  const digestOf = (rollout: object, more: object = {}) => {
    const read = readModeRules({ default: 'diff-v1', rules: [{ ...rule(rollout), ...more }] })
    if ('problem' in read || !read.rules[0]?.canary?.rollout) throw new Error('wrong')
    return planOf(read.rules[0].canary.rollout, read.rules[0]).digest
  }
  const known = digestOf({})
  expect(digestOf({ watch: '1d', steps: [STEPS[0], { target: 0.01, hold: '60m', percent: 100 }] })).toBe(known)
  const others = [{ retries: 1 }, { watch: '2d' }, { target: 0.002 }, { steps: [STEPS[0]] }].map((rollout) => digestOf(rollout))
  const scopes = [{ operations: 'iam.r*' }, { clients: 'a' }].map((more) => digestOf({}, more))
  expect(new Set([known, ...others, ...scopes]).size).toBe(7)
})
