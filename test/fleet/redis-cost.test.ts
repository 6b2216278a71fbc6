import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evidenceChanges, evidenceNames, mergedChanges } from '../../src/fleet/evidence.ts'
import { openStore } from '../../src/fleet/store/open.ts'
import type { Batch, Store } from '../../src/fleet/store/store.ts'
import { hasRedis, startRedis, type TestRedis } from '../stage/redis.ts'

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
