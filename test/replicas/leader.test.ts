import { expect, it } from 'vitest'
import { createLeader, LEASE_MS } from '../../src/fleet/fleet.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { manualClocks } from '../stage/manual-clocks.ts'
import { cuttable, fleetOf } from './cuttable.ts'

async function three() {
  const clocks = manualClocks()
  const memory = createMemory(clocks.now)
  const replicas = ['a', 'b', 'c'].map((id) => {
    const cut = cuttable(memory.open())
    const fleet = fleetOf(id, cut.store, clocks)
    const leader = createLeader({ id, ticks: clocks.ticks })
    fleet.add(leader)
    return { id, cut, fleet, leader }
  })
  for (const { fleet } of replicas) await fleet.start()
  const leading = () => replicas.filter(({ leader }) => leader.isSelf()).map(({ id }) => id)
  const [a, b, c] = replicas as [(typeof replicas)[0], (typeof replicas)[0], (typeof replicas)[0]]
  return { clocks, replicas, leading, a, b, c }
}

it('is the first replica, as long as it renews its lease', async () => {
  const { clocks, replicas, leading } = await three()
  for (let second = 0; second < 20; second += 1) {
    await clocks.pass(1000)
    expect(leading()).toEqual(['a'])
  }
  expect(replicas.map(({ leader }) => leader.id())).toEqual(['a', 'a', 'a'])
})

it.each(['requests', 'answers'] as const)('is another replica soon after its %s are lost, and never two', async (lost) => {
  const { clocks, leading, a } = await three()
  await clocks.pass(1000)
  a.cut.cut = lost
  const lead: (readonly string[])[] = []
  for (let ms = 0; ms < LEASE_MS + 2000; ms += 50) {
    await clocks.pass(50)
    lead.push(leading())
  }
  expect(lead.every(({ length }) => length <= 1)).toBe(true)
  expect(leading()).toEqual(['b'])
  a.cut.cut = 'no'
  await clocks.pass(2000)
  expect(leading()).toEqual(['b'])
})

it('is another replica at once after it has ended', async () => {
  const { clocks, leading, a } = await three()
  await clocks.pass(1000)
  a.leader.resign()
  expect(leading()).toEqual([])
  await a.fleet.close()
  await clocks.pass(1100)
  expect(leading()).toEqual(['b'])
})
