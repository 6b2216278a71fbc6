import { expect, it } from 'vitest'
import { createLeader } from '../../src/fleet/fleet.ts'
import { createReadinessPart } from '../../src/fleet/judging.ts'
import { createMemory, type Memory } from '../../src/fleet/store/memory.ts'
import type { CutoverVerdict, OperationVerdict } from '../../src/migrate/evidence/cutover.ts'
import { type ManualClocks, manualClocks } from '../stage/manual-clocks.ts'
import { cuttable, fleetOf } from './cuttable.ts'

/** What everybody would be told. */
interface World {
  readonly clocks: ManualClocks
  readonly memory: Memory
  verdict: CutoverVerdict | undefined
}

function verdictOf(standing: 'inside' | 'outside'): CutoverVerdict {
  const operation = { operation: 'iam.a', standing, blocks: standing !== 'inside', reason: 'x', calls: 1, clients: [] } as unknown
  return { ready: standing === 'inside', target: 0.1, withoutV1: false, operations: [operation as OperationVerdict], reasons: ['x'] }
}

async function replicaOf(id: string, world: World) {
  const { clocks } = world
  const cut = cuttable(world.memory.open())
  const fleet = fleetOf(id, cut.store, clocks)
  const leader = createLeader({ id, ticks: clocks.ticks })
  const told: string[] = []
  const failed = (error: unknown) => {
    throw error
  }
  const part = createReadinessPart({
    ...{ leader, failed, now: clocks.now, ticks: clocks.ticks },
    judge: async () => world.verdict,
    note: ({ what, operation = 'all' }) => void told.push(`${operation} ${what}`),
  })
  fleet.add(leader)
  fleet.add(part)
  await fleet.start()
  const end = clocks.repeat(part.look, 1000)
  const kill = () => {
    end()
    cut.cut = 'requests'
  }
  return { told, kill }
}

async function two() {
  const clocks = manualClocks()
  const world: World = { clocks, memory: createMemory(clocks.now), verdict: verdictOf('outside') }
  const [a, b] = [await replicaOf('a', world), await replicaOf('b', world)]
  await clocks.pass(12_000)
  return { clocks, world, a, b }
}

it('notes once what becomes ready, at the replica that decides', async () => {
  const { clocks, world, a, b } = await two()
  world.verdict = verdictOf('inside')
  await clocks.pass(25_000)
  expect([a.told, b.told]).toEqual([['iam.a ready', 'all ready'], []])
})

it('notes nothing again after another replica has begun to decide', async () => {
  const { clocks, world, a, b } = await two()
  world.verdict = verdictOf('inside')
  await clocks.pass(12_000)
  a.kill()
  await clocks.pass(20_000)
  expect(b.told).toEqual([])
  world.verdict = verdictOf('outside')
  await clocks.pass(12_000)
  expect(b.told).toEqual(['iam.a not-ready', 'all not-ready'])
  const c = await replicaOf('c', world)
  b.kill()
  await clocks.pass(20_000)
  world.verdict = verdictOf('inside')
  await clocks.pass(20_000)
  expect(c.told).toEqual([])
  await clocks.pass(300_000)
  expect(c.told).toEqual(['iam.a ready', 'all ready'])
})

it('notes nothing while a replica has not told what it saw', async () => {
  const { clocks, world, a } = await two()
  world.verdict = undefined
  await clocks.pass(30_000)
  expect(a.told).toEqual([])
  world.verdict = verdictOf('inside')
  await clocks.pass(12_000)
  expect(a.told).toEqual(['iam.a ready', 'all ready'])
})
