import { describe, expect, it, onTestFinished } from 'vitest'
import { planOf, rolloutSchema } from '../../../src/modes/rollout/rollout-plan.ts'
import { createRolloutShares, type SharedRequest } from '../../../src/modes/rollout/rollout-shares.ts'
import type { RolloutStatus } from '../../../src/modes/rollout/rollout-status.ts'
import { startStage } from '../../stage/stage.ts'

const STEPS = [
  { percent: 10, hold: '1h' },
  { percent: 50, hold: '1h' },
]
const plan = (name: string, operations = 'iam.*', clients = '*') =>
  planOf(rolloutSchema.parse({ name, steps: STEPS }), { operations, clients })

const request = (members: Partial<SharedRequest> = {}): SharedRequest => {
  return { operation: 'iam.groups.list', caller: 'one', subject: undefined, byV2: true, turn: 1, ...members }
}

describe('the shares of rollouts', () => {
  it('are counted for the operations and clients of a rollout, whichever rule decided', () => {
    const shares = createRolloutShares()
    shares.follow([plan('iam'), plan('some', '*', 'ci-*'), plan('registry', 'registry.*')].map((one) => ({ plan: one, percent: 10 })))
    for (const caller of ['a', 'ci-1']) shares.used(request({ caller }))
    shares.used(request({ caller: 'b', subject: 'ci-2', byV2: false }))
    expect(['iam', 'some', 'registry'].map((name) => shares.ratioOf(name))).toMatchObject([
      { callers: 3, got: 2, share: 0.1 },
      { callers: 2, got: 1 },
      { callers: 0 },
    ])
  })

  it('leave out requests that a change of a share has overtaken', () => {
    const shares = createRolloutShares()
    shares.follow([{ plan: plan('iam'), percent: 10 }])
    const before = shares.turn()
    shares.follow([{ plan: plan('iam'), percent: 10 }])
    shares.used(request({ turn: before }))
    expect(shares.ratioOf('iam')?.callers).toBe(0)
    shares.used(request({ turn: shares.turn() }))
    expect(shares.ratioOf('iam')?.callers).toBe(1)
  })

  it.each([
    ['another share', { percent: 50 }, 0],
    ['the same share', { percent: 10 }, 1],
    ['the same share after a person resumed it', { percent: 10, anew: 'iam' }, 0],
    ['the same share after a person resumed another', { percent: 10, anew: 'registry' }, 1],
    ['no share', { percent: 0 }, undefined],
  ])('begin with %s: %j', (_, { percent, anew }: { percent: number; anew?: string }, callers) => {
    const shares = createRolloutShares()
    shares.follow([{ plan: plan('iam'), percent: 10 }])
    shares.used(request())
    shares.follow([{ plan: plan('iam'), percent }], anew)
    expect(shares.ratioOf('iam')?.callers).toBe(callers)
  })
})

describe('a proxy with a rollout', () => {
  it('counts who really got it: neither testers nor reads that v1 answered in place of v2 did', async () => {
    const rollout = { name: 'iam', steps: [{ percent: 50, hold: '1h' }] }
    const rules = [{ operations: 'iam.*', mode: 'v1', canary: { mode: 'diff-v2', rollout } }]
    const stage = await startStage()
    onTestFinished(() => stage.close())
    const status = async () => (await (await fetch(`${stage.server.adminUrl}/rollouts`)).json()) as readonly RolloutStatus[]
    const all = Array.from({ length: 20 }, (_, nth) => `demo-admin-${nth + 1}`)
    const ask = async (tokens: readonly string[], headers = {}, path = '/iam/v1/roles') => {
      await Promise.all(tokens.map((token) => stage.request('GET', path, { token, headers })))
      await stage.settled()
    }
    const begin = async () => {
      const modes = { default: 'v1', rules: [], testers: ['*'] }
      const headers = { 'content-type': 'application/json' }
      for (const body of [modes, { ...modes, rules }]) {
        await fetch(`${stage.server.adminUrl}/modes`, { method: 'PUT', headers, body: JSON.stringify(body) })
      }
    }
    await begin()
    await ask(all)
    await ask(all)
    const [{ ratio }] = (await status()) as readonly [RolloutStatus]
    expect(ratio).toMatchObject({ callers: 20, got: 11, isOff: false, requests: { got: 22, other: 18 } })
    await begin()
    await ask(all, { 'x-crosswalk-mode': 'v1' })
    expect(await status()).toMatchObject([{ ratio: { callers: 20, got: 0 } }])
    await begin()
    await stage.fault({ match: 'GET /iam/v2/groups', status: 503 })
    await ask(all.slice(0, 5), {}, '/iam/v1/groups')
    expect(await status()).toMatchObject([{ ratio: { callers: 5, got: 0, requests: { got: 0, other: 5 } } }])
  })
})
