import { expect, it, onTestFinished } from 'vitest'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { startProxy } from '../stage/proxy.ts'
import { answering, startUpstream } from '../stage/upstream.ts'

it('starts and ends servers that share a store', async () => {
  const memory = createMemory(Date.now)
  const replicas = () => memory.open().read([{ kind: 'replicas', name: '' }])
  for (let at = 0; at < 2; at += 1) {
    const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' }, { join: joinFleet(memory.open()) })
    onTestFinished(proxy.close)
  }
  expect(await replicas()).toEqual([expect.objectContaining({ value: [expect.anything(), expect.anything()] })])
})

it.each([
  [7_200_000, 'the clock of the store is some 2 h ahead of that of this machine'],
  [-300_000, 'the clock of the store is some 5 min behind that of this machine'],
  [50_000, undefined],
])('tells that the clock of the store is %i ms off, in a note, in /readyz and in a metric', async (offMs, clock) => {
  const store = createMemory(() => Date.now() + offMs).open()
  const v2 = await startUpstream(answering({ response: 'pong' }))
  const proxy = await startProxy({ 'upstream.v2': v2.url }, { join: joinFleet(store) })
  onTestFinished(() => proxy.close().then(v2.close))
  const ask = async (path: string) => (await fetch(proxy.adminUrl + path)).text()
  const [, seconds] = /^crosswalk_clock_ahead_seconds\{of="the store"\} (\S+)$/m.exec(await ask('/metrics')) ?? []
  expect(Math.abs(Number(seconds) - offMs / 1000)).toBeLessThan(2)
  const notes = proxy.log.filter(({ what }) => what === 'clock')
  expect(notes.map(({ msg }) => msg)).toEqual(clock === undefined ? [] : [`${clock}: look at the time service of both machines`])
  expect(JSON.parse(await ask('/readyz')).clock).toBe(clock)
})
