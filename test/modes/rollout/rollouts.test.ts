import { afterEach, expect, it } from 'vitest'
import type { ModeRules } from '../../../src/modes/choose/rules.ts'
import { type RolloutStage, startRolloutStage, tokensBetween } from './rollout-stage.ts'

let stage: RolloutStage
afterEach(() => stage.close())

const KINDS = ['', '?limit=5', '?limit=500', '?offset=1', '?order_by=name'].map((query) => `/iam/v1/roles${query}`)

const rules = (more: object = {}): ModeRules => ({
  default: 'diff-v1',
  rules: [
    {
      operations: 'iam.*',
      clients: '*',
      mode: 'diff-v1',
      canary: {
        mode: 'diff-v2',
        rollout: {
          name: 'iam',
          target: 0.1,
          retries: 2,
          watch: '30m',
          steps: [
            { percent: 1, observations: 5 },
            { percent: 10, hold: '10m' },
            { percent: 100, hold: '10m', observations: 10 },
          ],
          ...more,
        },
      },
    },
  ],
  testers: [],
})

const [first, tenth, rest] = [tokensBetween(0, 1, 2), tokensBetween(1, 10, 5), tokensBetween(10, 100, 5)]
const all = [...first, ...tenth, ...rest]
const status = async () => (await stage.rollouts())[0]
const place = async () => {
  const { phase, step, percent } = (await status()) ?? {}
  return `${phase} ${step} ${percent}`
}
const served = () => stage.server.log.filter(({ msg }) => msg === 'request').map(({ mode }) => mode)

it('a rollout goes from 1 % to 100 % by itself, and no client ever goes back', async () => {
  stage = await startRolloutStage({ modes: rules(), 'log.level': 'info' })
  expect(await place()).toBe('running 1 1')
  await stage.traffic(all, KINDS)
  expect(new Set(served().slice(0, 2 * KINDS.length))).toContain('diff-v2')
  const places = [await place()]
  for (let minute = 0; minute < 60 && places.at(-1) !== 'done 3 100'; minute += 1) {
    expect(await stage.traffic(all, KINDS.slice(0, 1))).toEqual([200])
    places.push(await place())
  }
  expect([...new Set(places)]).toEqual(['running 2 10', 'running 3 100', 'watching 3 100', 'done 3 100'])
})
