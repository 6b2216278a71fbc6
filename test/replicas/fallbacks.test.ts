import { expect, it } from 'vitest'
import { createSharedBudget } from '../../src/fleet/circuits.ts'
import { sharedStage } from './shared-stage.ts'

const MINUTE = 60_000

async function stage(perMinute: number, ids: readonly string[]) {
  const shared = sharedStage()
  const { clocks } = shared
  const join = (id: string) =>
    shared.join(id, (fleet) => {
      const budget = createSharedBudget(perMinute, fleet)
      fleet.add(budget)
      let taken = 0
      const take = (times: number, isStranger = false) => {
        for (let at = 0; at < times; at += 1) taken += budget.take(isStranger) ? 1 : 0
        return taken
      }
      return { take, taken: () => taken }
    })
  const replicas = await Promise.all(ids.map(join))
  await clocks.pass(1500)
  return { ...shared, replicas, join, sum: () => replicas.reduce((all, { taken }) => all + taken(), 0) }
}

it('is one for all replicas, and an idle one leaves most of its part to the others', async () => {
  const { clocks, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
  const [busy] = replicas
  // The first ones did not know of the others when they drew for the first minute.
  await clocks.pass(MINUTE)
  for (let at = 0; at < 40; at += 1) {
    busy?.take(10)
    await clocks.pass(200)
  }
  expect(busy?.taken()).toBeGreaterThanOrEqual(60)
  for (let at = 0; at < 40; at += 1) {
    for (const { take } of replicas) take(10)
    await clocks.pass(200)
  }
  expect(sum()).toBe(80)
})

it('begins anew with each minute, without a refusal at its beginning', async () => {
  const { clocks, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
  for (let at = 0; at < 150; at += 1) {
    for (const { take } of replicas) take(3)
    await clocks.pass(1000)
  }
  // 150 seconds lie in three minutes.
  expect(sum()).toBe(3 * 80)
  const before = replicas.map(({ taken }) => taken())
  await clocks.pass(MINUTE)
  expect(replicas.map(({ take }, nth) => take(1) - (before[nth] ?? 0))).toEqual([1, 1, 1, 1])
})

it('is an even part for each replica while the store does not answer', async () => {
  const { clocks, breaks, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
  breaks.all = true
  await clocks.pass(MINUTE)
  for (const { take } of replicas) expect(take(100)).toBe(20)
  await clocks.pass(MINUTE)
  for (const { take } of replicas) take(100)
  expect(sum()).toBe(2 * 80)
})

it('does not exceed the setting by a tenth in the minute in which the store stops to answer', async () => {
  const { clocks, breaks, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
  replicas[0]?.take(5)
  await clocks.pass(1500)
  breaks.all = true
  for (let at = 0; at < 40; at += 1) {
    for (const { take } of replicas) take(10)
    await clocks.pass(1000)
  }
  expect(sum()).toBeGreaterThanOrEqual(72)
  expect(sum()).toBeLessThanOrEqual(88)
})

it('leaves half of it to known callers', async () => {
  const { clocks, replicas, sum } = await stage(80, ['a', 'b'])
  for (let at = 0; at < 20; at += 1) {
    for (const { take } of replicas) take(10, true)
    await clocks.pass(500)
  }
  expect(sum()).toBeLessThanOrEqual(44)
  for (let at = 0; at < 20; at += 1) {
    for (const { take } of replicas) take(10)
    await clocks.pass(500)
  }
  expect(sum()).toBe(80)
})

it('does not double if the store comes back empty', async () => {
  const { clocks, lose, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
  for (const { take } of replicas) take(20)
  await clocks.pass(1500)
  lose()
  for (let at = 0; at < 30; at += 1) {
    for (const { take } of replicas) take(10)
    await clocks.pass(1000)
  }
  expect(sum()).toBeLessThanOrEqual(88)
})

it('leaves a part to a replica whose heartbeat nobody can read', async () => {
  const { clocks, breaks, store, replicas } = await stage(80, ['a'])
  const beat = { kind: 'beat', text: '{"form":2}', ms: 300_000 } as const
  await store().exchange({ replica: 'newer', nth: 1, changes: [beat], reads: [], isUrgent: false })
  await clocks.pass(1500)
  breaks.all = true
  await clocks.pass(MINUTE)
  expect(replicas[0]?.take(100)).toBe(40)
})
