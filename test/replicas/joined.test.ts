import { expect, it, onTestFinished } from 'vitest'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { startProxy } from '../stage/proxy.ts'

it('starts and ends servers that share a store', async () => {
  const memory = createMemory(Date.now)
  const replicas = () => memory.open().read([{ kind: 'replicas', name: '' }])
  for (let at = 0; at < 2; at += 1) {
    const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' }, { join: joinFleet(memory.open()) })
    onTestFinished(proxy.close)
  }
  expect(await replicas()).toEqual([expect.objectContaining({ value: [expect.anything(), expect.anything()] })])
})
