import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { openStore } from '../../src/fleet/store/open.ts'
import type { Batch, Kinds, LogItem, Store, StoreFound } from '../../src/fleet/store/store.ts'
import { hasRedis, startRedis, type TestRedis } from '../stage/redis.ts'
import { anyChange, anyOrder, PLACES } from '../store/random-batches.ts'

const RUNS = Number(process.env.CROSSWALK_CASES ?? 150)
const SEED = process.env.CROSSWALK_SEED === undefined ? {} : { seed: Number(process.env.CROSSWALK_SEED) }
const REPLICAS = ['a', 'b', 'c']
const replica = fc.integer({ min: 0, max: 2 })

/** The memory carrier is the model of Redis: whatever replicas send, both answer alike. */
describe.runIf(hasRedis())('Redis and memory', () => {
  let redis: TestRedis
  let stores: readonly Store[]
  beforeAll(async () => {
    redis = await startRedis()
    stores = await Promise.all(REPLICAS.map(() => openStore(redis.url, 'model')))
  })
  afterAll(async () => {
    for (const store of stores) await store.close()
    await redis.stop()
  })

  it('answer the same batches alike, repeated ones included', async () => {
    const read = fc.tuple(fc.constantFrom(...PLACES), fc.boolean())
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          replica,
          isAgain: fc.constant(false),
          changes: fc.array(anyChange, { maxLength: 6 }),
          reads: fc.array(read),
        }),
      },
      { weight: 1, arbitrary: fc.record({ replica, isAgain: fc.constant(true), changes: fc.constant([]), reads: fc.constant([]) }) },
      { weight: 1, arbitrary: fc.record({ replica, version: fc.integer({ min: 0, max: 7 }), name: fc.constantFrom('one', 'two') }) },
    )
    const run = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await redis.command('FLUSHALL')
      const model = createMemory(Date.now)
      const both = [createSide(stores), createSide(REPLICAS.map(() => model.open()))] as const
      for (const one of steps) {
        const [real, modelled] = await Promise.all(
          both.map((side) =>
            'version' in one ? side.replace(one.replica, one.name, one.version) : one.isAgain ? side.again(one.replica) : side.send(one),
          ),
        )
        expect(real).toEqual(modelled)
      }
      const [real, modelled] = await Promise.all(both.map((side) => side.all()))
      expect(real).toEqual(modelled)
    })
    await fc.assert(run, { numRuns: RUNS, ...SEED })
  })

  it('come to the same in whatever order batches of several replicas arrive', async () => {
    const batches = fc.array(fc.array(anyOrder, { maxLength: 8 }), { maxLength: 8 })
    const run = fc.asyncProperty(batches, batches, batches, async (...sent) => {
      await redis.command('FLUSHALL')
      const model = createMemory(Date.now)
      const real = createSide(stores)
      const modelled = createSide(REPLICAS.map(() => model.open()))
      const sendAll = async (side: Side, at: number) => {
        for (const changes of sent[at] ?? []) {
          await side.send({ replica: at, changes, reads: [] })
          await side.again(at)
        }
      }
      await Promise.all(REPLICAS.map((_, at) => sendAll(real, at)))
      for (const at of REPLICAS.keys()) await sendAll(modelled, at)
      expect(await real.all()).toEqual(await modelled.all())
    })
    await fc.assert(run, { numRuns: RUNS, ...SEED })
  })
})

interface Step {
  readonly replica: number
  readonly changes: Batch['changes']
  readonly reads: readonly (readonly [place: (typeof PLACES)[number], isKnown: boolean])[]
}

type Side = ReturnType<typeof createSide>

/** Three replicas of one store. What they find is told without stamps, which are times. */
function createSide(stores: readonly Store[]) {
  const nth = REPLICAS.map(() => 0)
  const last: (Batch | undefined)[] = REPLICAS.map(() => undefined)
  const known = REPLICAS.map(() => new Map<string, number>())
  const exchange = async (at: number, batch: Batch) => {
    const found = await stores[at]!.exchange(batch)
    for (const [index, one] of found.entries()) {
      const { kind, name } = batch.reads[index]!
      if (one) known[at]!.set(`${kind} ${name}`, one.stamp)
    }
    return found.map(withoutTimes)
  }
  return {
    send({ replica: at, changes, reads }: Step) {
      nth[at]! += 1
      const asked = reads.map(([[kind, name], isKnown]) => {
        const stamp = isKnown ? known[at]!.get(`${kind} ${name}`) : undefined
        return { kind, name, ...(stamp !== undefined && { known: stamp }) }
      })
      const batch = { replica: REPLICAS[at]!, nth: nth[at]!, changes, reads: asked, isUrgent: false }
      last[at] = batch
      return exchange(at, batch)
    },
    async again(at: number) {
      const batch = last[at]
      return batch && exchange(at, batch)
    },
    replace: (at: number, name: string, version: number) => stores[at]!.replace(name, version, `by ${at}`),
    all: async () => (await stores[0]!.read(PLACES.map(([kind, name]) => ({ kind, name })))).map(withoutTimes),
  }
}

function withoutTimes(found: StoreFound): unknown {
  if (!Array.isArray(found?.value)) return found?.value
  const rows = found.value as readonly (LogItem | Kinds['replicas'][number])[]
  return rows.map((row) => ('nth' in row ? [row.nth - found.stamp, row.replica, row.text] : [row.replica, row.text])).sort()
}
