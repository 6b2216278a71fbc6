import { expect, it, onTestFinished } from 'vitest'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { breakableStore } from '../stage/breakable-store.ts'
import { startProxy } from '../stage/proxy.ts'
import { until } from '../stage/until.ts'

it('gives no canary v2 while the store is silent for longer than the lease', async () => {
  const breakable = breakableStore(createMemory(Date.now).open())
  const canary = { operations: '*', clients: '*', mode: 'v1', canary: { percent: 100, mode: 'v2' } } as const
  const nowhere = { 'upstream.v2': 'http://127.0.0.1:1', 'upstream.v1': 'http://127.0.0.1:1' }
  const proxy = await startProxy(
    { ...nowhere, modes: { default: 'v1', rules: [canary], testers: [] }, 'store.leaseMs': 1500 },
    { join: joinFleet(breakable.store) },
  )
  onTestFinished(proxy.close)
  const shares = async () => (await (await fetch(`${proxy.adminUrl}/metrics`)).text()).match(/^crosswalk_canary_share\{.*/gm)?.length ?? 0
  const share = await shares()
  expect(share).toBeGreaterThan(0)
  breakable.broken = 'refuses'
  await until(async () => (await shares()) === 0)
  breakable.broken = undefined
  await until(async () => (await shares()) === share)
})
