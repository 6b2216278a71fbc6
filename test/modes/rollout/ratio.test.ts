import { expect, it, onTestFinished } from 'vitest'
import { readModeRules } from '../../../src/migrate/modes/rules.ts'
import type { RolloutStatus } from '../../../src/migrate/rollout/machine.ts'
import { startStage } from '../../stage/stage.ts'
import { iamRules, PERSON, simulate } from './simulated.ts'

it('a share that is not what is configured pauses the rollout, and a person who resumes has it counted anew', () => {
  const one = simulate(iamRules({ steps: [{ percent: 10, hold: '1h' }] }))
  const ask = (nth: number) => {
    const client = { caller: `caller ${nth}`, subject: undefined, mode: 'v1', round: one.rollouts.round() } as const
    one.rollouts.used(client, 'iam.a', 'v1')
  }
  for (let nth = 0; nth < 200; nth += 1) ask(nth)
  one.pass(1000)
  expect(one.rollouts.all()[0]).toMatchObject({
    phase: 'paused',
    percent: 10,
    reason: expect.stringMatching(
      /^The share is not what is configured: 0 of 200 callers \(0 %\) got the canary, and 10 % are configured: look for /,
    ),
    ratio: { callers: 200, got: 0, share: 0.1, requests: { got: 0, other: 200 }, isOff: true },
  })
  expect(one.rollouts.steer('iam', 'resume', PERSON)).toBeUndefined()
  ask(0)
  one.pass(1000)
  expect(one.rollouts.all()[0]).toMatchObject({ phase: 'running', ratio: { callers: 1, isOff: false } })
})

it('a caller got the share if v2 itself answered: not by the header of a tester, and not if v1 answered in its place', async () => {
  const rollout = { name: 'iam', steps: [{ percent: 100, hold: '1h' }] }
  const rule = { operations: 'iam.*', mode: 'v1', canary: { mode: 'diff-v2', rollout } }
  const rules = readModeRules({ default: 'v1', rules: [rule], testers: ['*'] })
  if ('problem' in rules) throw new Error(rules.problem)
  const stage = await startStage({ modes: rules })
  onTestFinished(() => stage.close())
  await stage.fault({ match: 'GET /iam/v2/roles', status: 503, times: 2 })
  for (const token of ['demo-admin-1', 'demo-admin-2', 'demo-admin-3', 'demo-admin-1']) {
    await stage.request('GET', '/iam/v1/roles', { token })
  }
  await stage.request('GET', '/iam/v1/roles', { token: 'demo-admin-4', headers: { 'x-crosswalk-mode': 'v1' } })
  await stage.settled()
  const [status] = (await (await fetch(`${stage.server.adminUrl}/rollouts`)).json()) as readonly RolloutStatus[]
  expect(status?.ratio).toMatchObject({ callers: 4, got: 1, requests: { got: 2, other: 3 } })
})
