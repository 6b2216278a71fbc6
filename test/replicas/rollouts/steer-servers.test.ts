import { expect, it, onTestFinished } from 'vitest'
import { joinFleet } from '../../../src/app/server/fleet.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import type { RolloutStatus } from '../../../src/migrate/rollout/machine.ts'
import { iamRules } from '../../modes/rollout/simulated.ts'
import { startProxy } from '../../stage/proxy.ts'
import { until } from '../../stage/until.ts'
import { cuttable } from '../cuttable.ts'

const NOWHERE = { 'upstream.v2': 'http://127.0.0.1:1', 'upstream.v1': 'http://127.0.0.1:1' }

async function replica(memory: ReturnType<typeof createMemory>) {
  const cut = cuttable(memory.open())
  const proxy = await startProxy({ ...NOWHERE, modes: iamRules() }, { join: joinFleet(cut.store) })
  onTestFinished(proxy.close)
  const get = async () => {
    const answer = await fetch(`${proxy.adminUrl}/rollouts`)
    return { etag: answer.headers.get('etag') ?? '', rollout: ((await answer.json()) as readonly RolloutStatus[])[0] }
  }
  const steer = async (command: string, etag = '*') => {
    const answer = await fetch(`${proxy.adminUrl}/rollouts/iam/${command}`, { method: 'POST', headers: { 'if-match': etag } })
    return { status: answer.status, body: (await answer.json()) as Partial<RolloutStatus> & { readonly message?: string } }
  }
  return { cut, get, steer }
}

it('steers a rollout of two servers through either of them, by one entity tag', async () => {
  const memory = createMemory(Date.now)
  const [a, b] = [await replica(memory), await replica(memory)]
  await until(async () => (await b.get()).rollout?.percent === 1)
  const { etag } = await a.get()
  expect((await b.get()).etag).toBe(etag)
  expect(await b.steer('pause', etag)).toMatchObject({ status: 200, body: { phase: 'paused', percent: 1 } })
  expect((await a.get()).rollout).toMatchObject({ phase: 'paused', reason: expect.stringMatching(/^Paused by admin port/) })
  expect(await a.steer('resume', etag)).toMatchObject({ status: 412 })
  b.cut.cut = 'requests'
  expect(await b.steer('resume')).toMatchObject({ status: 503, body: { message: expect.stringMatching(/^The store does not answer/) } })
  expect(await b.steer('abort')).toMatchObject({ status: 200, body: { phase: 'aborted', percent: 0 } })
  expect((await a.get()).rollout?.phase).toBe('paused')
  b.cut.cut = 'no'
  await until(async () => (await a.get()).rollout?.phase === 'aborted')
})
