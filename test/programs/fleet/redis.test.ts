import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { evidenceChanges, evidenceNames, mergedChanges } from '../../../src/fleet/evidence.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import { openStore } from '../../../src/fleet/store/open.ts'
import type { Batch, Kinds, LogItem, Store, StoreFound } from '../../../src/fleet/store/store.ts'
import { anyChange, anyOrder, keepsTheContract, PLACES } from '../../fleet/store-contract.ts'
import { temporaryFolder } from '../../stage/programs.ts'
import { hasRedis, startRedis, type TestRedis } from '../../stage/stores.ts'

describe.runIf(hasRedis())('a store in Redis', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  const opened: Store[] = []
  afterAll(async () => {
    for (const store of opened) await store.close()
    await redis.stop()
  })
  keepsTheContract({
    async open() {
      const store = await openStore(redis.url, 'contract')
      opened.push(store)
      return store
    },
    // The time of Redis cannot be set: it has to pass.
    pass: (ms) => delay(ms),
  })
})

describe('redis cost', () => {
  const NAMES = evidenceNames({ nth: 1, hash: 'abcdef' })
  const OPERATIONS = ['iam.groups.list', 'iam.groups.get', 'registry.repos.list', 'registry.tags.list', 'iam.roles.list']
  const CALLERS = 50

  /** What a replica tells and asks at one time: its heartbeat, its traffic and its new comparisons. */
  function batch(nth: number, comparisons: number): Batch {
    const observed = Array.from({ length: comparisons }, (_, at) =>
      evidenceChanges(
        {
          ...{ operation: OPERATIONS[at % OPERATIONS.length]!, caller: `caller ${at % CALLERS}`, shape: `shape ${nth} ${at}` },
          ...{ outcome: 'match', at: Date.now() },
        },
        NAMES,
      ),
    )
    const traffic = { kind: 'add', name: NAMES.traffic, sums: { 'iam.groups.list': 20, 'registry.repos.list': 5 } } as const
    const heartbeat = { kind: 'beat', text: JSON.stringify({ name: 'crosswalk-1', version: 3, waiting: 0, lost: 0 }), ms: 300_000 } as const
    return {
      ...{ replica: 'cost', nth, isUrgent: false },
      changes: [heartbeat, { kind: 'lease', name: 'leader', ms: 5000 }, traffic, ...mergedChanges(observed.flat())],
      reads: [
        ...(['document', 'texts', 'lease', 'replicas'] as const).map((kind) => ({ kind, name: 'modes' })),
        { kind: 'sums', name: NAMES.evidence, known: 1 },
      ],
    }
  }

  /** Prints what a batch costs Redis. The times depend on the machine; the number of commands does not. */
  describe.runIf(hasRedis())('a batch', () => {
    let redis: TestRedis
    let store: Store
    let nth = 0
    beforeAll(async () => {
      redis = await startRedis()
      store = await openStore(redis.url, 'cost')
      for (let time = 0; time < 200; time += 1) await store.exchange(batch(++nth, 5))
    })
    afterAll(async () => {
      await store.close()
      await redis.stop()
    })

    /** Microseconds of CPU time since its start. */
    const cpu = async () => {
      const info = await redis.command('INFO', 'cpu')
      return [...info.matchAll(/used_cpu_(?:user|sys):([\d.]+)/g)].reduce((sum, [, seconds]) => sum + 1e6 * Number(seconds), 0)
    }

    it.each([0, 5, 10, 100])('of %i comparisons costs Redis four commands for each, and a few for all', async (comparisons) => {
      const batches = Array.from({ length: comparisons === 100 ? 50 : 300 }, () => batch(++nth, comparisons))
      await redis.command('CONFIG', 'RESETSTAT')
      const before = await cpu()
      // Twenty at once: a Redis of many replicas is not idle between two batches either. The store has 250 ms for each.
      for (let at = 0; at < batches.length; at += 20) await Promise.all(batches.slice(at, at + 20).map((one) => store.exchange(one)))
      const used = ((await cpu()) - before) / batches.length
      const stats = await redis.command('INFO', 'commandstats')
      const rows = [...stats.matchAll(/cmdstat_(\w+)[^:]*:calls=(\d+),usec=(\d+)/g)].map(([, name = '', ...counts]) => {
        const [calls, usec] = counts.map(Number) as [number, number]
        return { name, calls, usec }
      })
      const total = rows.find(({ name }) => name === 'evalsha')!
      const inside = rows.filter(({ name }) => !['evalsha', 'info', 'config'].includes(name))
      const calls = inside.reduce((sum, row) => sum + row.calls, 0) / batches.length
      const script = (total.usec / total.calls).toFixed(0)
      console.log(`${comparisons} comparisons: ${used.toFixed(0)} µs of CPU, ${script} µs in the script, ${calls.toFixed(0)} commands`)
      expect(total.calls).toBe(batches.length)
      // One command for each name of the batch looks at its type.
      expect(calls).toBeLessThan(90 + 4 * comparisons)
    })
  })
})

describe('redis model', () => {
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
    return rows.map((row, at) => ('nth' in row ? [at, row.replica, row.text] : [row.replica, row.text])).sort()
  }
})

describe('redis tls', () => {
  const KEY = 'test/certificates/localhost.key'
  const CERT = 'test/certificates/localhost.crt'

  /** Writes a document and reads it, in a process that trusts the certificate. */
  const PROGRAM = `
const { openStore } = await import(process.argv[1])
const store = await openStore(process.argv[2], 'tls')
const { isReplaced } = await store.replace('modes', 0, 'over TLS')
const [{ value }] = await store.read([{ kind: 'document', name: 'modes' }])
await store.close()
console.log(JSON.stringify([isReplaced, value.text]))`

  describe.runIf(hasRedis())('a Redis behind TLS', () => {
    const tls = { 'tls-cert-file': join(process.cwd(), CERT), 'tls-key-file': join(process.cwd(), KEY), 'tls-auth-clients': 'no' }
    let redis: TestRedis
    let url: string
    beforeAll(async () => {
      redis = await startRedis({ settings: { port: '0', ...tls }, tls: true, cli: ['--tls', '--cacert', CERT] })
      url = `rediss://localhost:${redis.port}`
    })
    afterAll(() => redis.stop())

    it('is refused if its certificate is not trusted', async () => {
      const store = await openStore(url, 'tls')
      const refused = store.exchange({ replica: 'a', nth: 1, changes: [], reads: [], isUrgent: false })
      await expect(refused).rejects.toThrow(`the store at ${url} has a certificate that is not trusted: self-signed certificate`)
      await store.close()
    })

    it('is used if its certificate is trusted', async () => {
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: CERT }
      const module = resolve(inject('cli'), '../../src/fleet/store/open.js')
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM, module, url], {
        env,
        timeout: 20_000,
      })
      expect(JSON.parse(stdout)).toEqual([true, 'over TLS'])
    })

    it('is not used over plain text', async () => {
      const store = await openStore(`redis://localhost:${redis.port}`, 'tls')
      await expect(store.replace('modes', 0, '')).rejects.toMatchObject({ name: 'StoreDown' })
      await store.close()
    })
  })
})

describe('redis unloaded', () => {
  const directory = temporaryFolder('unloaded')
  afterAll(directory.remove)

  /** Opens a store, and prints whether the client of Redis was loaded for it. */
  const PROGRAM = `
import Module from 'node:module'
const { openStore } = await import(process.argv[1])
const store = await openStore(process.argv[2], 'unloaded')
await store.close()
console.log(Object.keys(Module._cache).some((path) => path.includes('ioredis')))`

  it.each([
    ['loads', 'redis://127.0.0.1:1', 'true'],
    ['does not load', `file:${directory.path}/store`, 'false'],
  ])('%s the client of Redis for %s', async (_, url, isLoaded) => {
    const module = resolve(inject('cli'), '../../src/fleet/store/open.js')
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM, module, url], { timeout: 20_000 })
    expect(stdout.trim()).toBe(isLoaded)
  })
})
