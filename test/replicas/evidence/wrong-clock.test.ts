import { describe, expect, it } from 'vitest'
import { createSharedBudget } from '../../../src/fleet/circuits.ts'
import { shareClients } from '../../../src/fleet/clients.ts'
import { createEvidencePart } from '../../../src/fleet/evidence.ts'
import { createFleet } from '../../../src/fleet/fleet.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import type { Migration } from '../../../src/migrate/migration.ts'
import type { Entry } from '../../../src/migrate/records/record.ts'
import { operations } from '../../diff/given.ts'
import { manualClocks } from '../../stage/manual-clocks.ts'
import { comparisonOf, evidenceIn, NAMES } from './evidence-replica.ts'

const HOUR = 3_600_000
const PER_MINUTE = 80
const POLL = { operation: 'iam.groups.list', caller: 'one', shape: 'page', outcome: 'match' } as const

/** Replicas of one store, each with a clock that is off by so many milliseconds. */
async function stage(...offsets: readonly number[]) {
  const clocks = manualClocks()
  const memory = createMemory(clocks.now)
  const join = async (offMs: number, nth: number) => {
    const off = { ms: offMs }
    const now = () => clocks.now() + off.ms
    const id = `${nth}`
    const modes = () => ({ version: 1, tag: 'one' })
    const failed = (error: unknown) => expect(error).toBeUndefined()
    const fleet = createFleet({ store: memory.open(), id, name: id, clocks: { ...clocks, now }, modes, ended: () => {}, failed })
    const part = createEvidencePart({
      ...{ replica: id, names: NAMES, oldestMs: () => undefined, soon: fleet.soon, gone: () => {}, now, time: fleet.time },
      counters: { traffic: () => ({}), declared: () => ({}) },
    })
    const budget = createSharedBudget(PER_MINUTE, fleet)
    const counted: ((entry: Entry) => void)[] = []
    const noEpochs = { now: () => ({ nth: 0, tables: '' }), onBegin: () => {} }
    const counting = { followOwn: (listener: (entry: Entry) => void) => void counted.push(listener) } as Migration['counting']
    const migration = { counting, follow: () => {}, modes: { flush: () => {} } as Migration['modes'] }
    const readClients = shareClients(migration, fleet, noEpochs, { clocks: { now }, operations, isNewStore: false })
    const call = () => {
      const use = { caller: 'one', operation: 'iam.roles.list', mode: 'v2', calls: 1 }
      for (const take of counted) take({ kind: 'traffic', at: new Date(now()).toISOString(), ...use })
    }
    fleet.add(part)
    fleet.add(budget)
    await fleet.start()
    return { off, fleet, call, readClients, compare: () => part.entry(comparisonOf(POLL, now())), take: () => Number(budget.take(false)) }
  }
  const replicas = await Promise.all(offsets.map(join))
  await clocks.pass(2000)
  return { clocks, memory, replicas }
}

describe('a replica whose clock is wrong', () => {
  it('observes no pair that another replica has observed already', async () => {
    const { clocks, memory, replicas } = await stage(0, 2 * HOUR, -2 * HOUR)
    const began = clocks.now()
    for (const { compare } of replicas) {
      compare()
      await clocks.pass(1000)
    }
    const [said] = await evidenceIn(memory.open(), clocks.now())
    expect(said).toMatchObject({ n: 1, repeats: { n: 2 }, firstAt: began })
    expect(said?.lastAt).toBeLessThanOrEqual(clocks.now())
  })

  it('counts by the time of the store from the moment that its clock steps', async () => {
    const { clocks, memory, replicas } = await stage(0, 0)
    replicas[0]?.compare()
    if (replicas[1]) replicas[1].off.ms = -HOUR
    replicas[1]?.compare()
    await clocks.pass(1000)
    expect(await evidenceIn(memory.open(), clocks.now())).toMatchObject([{ n: 1, repeats: { n: 1 } }])
  })

  it('dates the calls of clients by the time of all', async () => {
    const { clocks, replicas } = await stage(0, 2 * HOUR, -2 * HOUR)
    const began = clocks.now()
    for (const { call } of replicas) call()
    await clocks.pass(1000)
    const seen = (await replicas[0]?.readClients())?.clients[0]?.operations[0]
    const dates = [seen?.firstSeen, seen?.lastSeen].map((at) => Math.abs((at ?? 0) - began))
    expect(seen?.calls).toBe(3)
    expect(Math.max(...dates)).toBeLessThan(1000)
  })

  it('draws its fallbacks from the minute of all', async () => {
    const { clocks, replicas } = await stage(0, HOUR)
    await clocks.pass(60_000)
    let taken = 0
    for (let at = 0; at < 40; at += 1) {
      for (const { take } of replicas) for (let times = 0; times < 5; times += 1) taken += take()
      await clocks.pass(200)
    }
    expect(taken).toBe(PER_MINUTE)
  })
})
