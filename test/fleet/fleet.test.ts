import { describe, expect, it } from 'vitest'
import { type Part, type PartState, reading } from '../../src/fleet/exchange.ts'
import { createFleet, type Fleet, type FleetSettings } from '../../src/fleet/fleet.ts'
import { createSharedWrites } from '../../src/fleet/judging.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import { createOwnWrites, RecentWrites, type WrittenResource } from '../../src/migrate/modes/serve.ts'
import { isReadBack } from '../../src/tables/operations.ts'
import { operationOf, operations } from '../migrate/given.ts'
import { type ManualClocks, manualClocks, quiet } from '../stage/clocks.ts'
import { startStage, type TestProxy } from '../stage/stage.ts'
import { breakableStore } from '../stage/stores.ts'
import { sharedStage } from './stage.ts'

describe('fleet', () => {
  /** A part that counts, and reads what all count together. */
  function counter() {
    let waiting = 0
    const seen: number[] = []
    const read = reading('sums', 'counted', ({ all = 0 }) => void seen.push(all))
    const state: PartState = { waiting: 0, dropped: 0, lost: 0 }
    const part: Part = {
      changes() {
        const all = waiting
        waiting = 0
        return all === 0 ? [] : [{ kind: 'add', name: 'counted', sums: { all } }]
      },
      readings: () => [read],
      state: () => state,
    }
    const count = (more: number) => {
      waiting += more
    }
    return { part, seen, state, count }
  }

  function replicaOf(store: Store, id: string, clocks: ManualClocks) {
    const ends: boolean[] = []
    const failed: unknown[] = []
    const ended: FleetSettings['ended'] = (_, { problem }) => void ends.push(problem === undefined)
    const settings = { name: 'host', modes: () => ({ version: 1, tag: 'one' }), ended }
    const fleet = createFleet({ store, id, clocks, ...settings, failed: (error) => void failed.push(error) })
    const counted = counter()
    fleet.add(counted.part)
    return { fleet, ends, failed, ...counted }
  }

  async function three() {
    const clocks = manualClocks()
    const memory = createMemory(clocks.now)
    const replicas = ['a', 'b', 'c'].map((id) => {
      const breakable = breakableStore(memory.open())
      return { ...replicaOf(breakable.store, id, clocks), breakable, sent: breakable.sent }
    })
    for (const { fleet } of replicas) await fleet.start()
    const [a, b, c] = replicas as [(typeof replicas)[0], (typeof replicas)[0], (typeof replicas)[0]]
    return { clocks, memory, a, b, c }
  }

  const ids = (fleet: Fleet) => fleet.replicas().map(({ id }) => id)

  it('sends what is new within 100 ms, and reads what the others sent within a second', async () => {
    const { clocks, a, b } = await three()
    a.count(3)
    a.fleet.soon()
    await clocks.pass(100)
    expect(a.seen).toEqual([0, 3])
    expect(b.seen).toEqual([0])
    await clocks.pass(1000)
    expect(b.seen).toEqual([0, 3])
  })

  it('sends what is urgent at once, and the others read it at once', async () => {
    const { a, b, c } = await three()
    a.count(1)
    a.fleet.urgent()
    await quiet()
    expect([a.seen, b.seen, c.seen]).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ])
  })

  it.each([
    ['before', 'refuses'],
    ['after', 'loses answers'],
  ] as const)('sends a batch again that failed %s the store applied it, and counts it once', async (_, broken) => {
    const { clocks, a, b } = await three()
    a.breakable.broken = broken
    a.count(1)
    a.fleet.urgent()
    await quiet()
    a.count(2)
    await clocks.pass(1000)
    expect(a.fleet.state()).toMatchObject({ problem: expect.any(String), downSince: 0 })
    a.breakable.broken = undefined
    await clocks.pass(2000)
    expect(b.seen.at(-1)).toBe(3)
    expect(a.fleet.state().problem).toBeUndefined()
    const again = a.sent.filter(({ nth }) => nth === 2)
    expect(again.length).toBeGreaterThan(3)
    for (const { changes } of again) expect(changes).toEqual(again[0]?.changes)
  })

  it('tries four times a second while the store does not answer', async () => {
    const { clocks, a } = await three()
    a.breakable.broken = 'refuses'
    await clocks.pass(1000)
    const before = a.sent.length
    await clocks.pass(10_000)
    expect(a.sent.length - before).toBeGreaterThanOrEqual(30)
    expect(a.sent.length - before).toBeLessThanOrEqual(40)
  })

  it('lists the replicas, and one that said goodbye no longer', async () => {
    const { clocks, a, b } = await three()
    await clocks.pass(1000)
    expect(ids(a.fleet)).toEqual(['a', 'b', 'c'])
    expect(a.fleet.replicas()[1]).toMatchObject({ id: 'b', name: 'host', version: 1, tag: 'one', isLive: true, isSelf: false, lost: 0 })
    await b.fleet.close()
    await clocks.pass(1100)
    expect(ids(a.fleet)).toEqual(['a', 'c'])
  })

  it('lists a replica that fell silent as such for five minutes', async () => {
    const { clocks, a, b } = await three()
    await clocks.pass(1000)
    b.breakable.broken = 'refuses'
    await clocks.pass(5000)
    expect(a.fleet.replicas().map(({ isLive }) => isLive)).toEqual([true, false, true])
  })

  it('tells the parts that the store came back empty, and how many batches are gone', async () => {
    const clocks = manualClocks()
    let nth = 0
    let memory = createMemory(clocks.now)
    let inner = memory.open()
    const store: Store = {
      ...inner,
      exchange(batch) {
        nth = batch.nth
        return inner.exchange(batch)
      },
      read: (reads) => inner.read(reads),
      close: () => inner.close(),
    }
    const { fleet } = replicaOf(store, 'a', clocks)
    const lost: boolean[] = []
    fleet.add({ changes: () => [], readings: () => [], lost: (batches) => void lost.push(batches === nth - 1) })
    await fleet.start()
    await clocks.pass(3000)
    expect(lost).toEqual([])
    memory = createMemory(clocks.now)
    inner = memory.open()
    await clocks.pass(3000)
    expect(lost).toEqual([true])
  })

  /** A replica of a store on the same machine, whose clock a test sets by so many milliseconds. */
  async function onOneMachine() {
    const clocks = manualClocks()
    let stepMs = 0
    const now = () => clocks.now() + stepMs
    const { fleet } = replicaOf(createMemory(now).open(), 'a', { ...clocks, now })
    const lost: number[] = []
    fleet.add({ changes: () => [], readings: () => [], lost: (batches) => void lost.push(batches) })
    await fleet.start()
    await clocks.pass(3000)
    const step = async (ms: number) => {
      stepMs += ms
      await clocks.pass(3000)
    }
    return { fleet, lost, now, step }
  }

  it('misses no batch when the clock of the store was set forward', async () => {
    const { lost, step } = await onOneMachine()
    await step(11 * 60_000)
    expect(lost).toEqual([0])
  })

  it('goes by the clock of the store after that was set back', async () => {
    const { fleet, now, step } = await onOneMachine()
    await step(-60 * 60_000)
    expect(fleet.time()).toBe(now())
    expect(fleet.aheadMs()).toBe(0)
  })

  it('reports a part that throws, and the others go on', async () => {
    const { clocks, a } = await three()
    a.fleet.add({ changes: () => [], readings: () => [{ read: { kind: 'sums', name: 'x' }, take: () => expect.unreachable() }] })
    a.count(1)
    await clocks.pass(1000)
    expect(a.failed.length).toBeGreaterThan(0)
    expect(a.ends).not.toContain(false)
  })

  it('settles when every replica has handed over what it knew', async () => {
    const { clocks, a, b, c } = await three()
    await clocks.pass(1000)
    b.count(5)
    c.count(2)
    const settling = a.fleet.settle(1000)
    await clocks.pass(50)
    expect(await settling).toEqual({ problems: [], busy: [] })
    expect(await a.fleet.store.read([{ kind: 'sums', name: 'counted' }])).toEqual([expect.objectContaining({ value: { all: 7 } })])
  })

  it('names the replicas that do not settle', async () => {
    const { clocks, a, b, c } = await three()
    await clocks.pass(1000)
    b.breakable.broken = 'refuses'
    Object.assign(c.state, { waiting: 4, lost: 2 })
    const settling = a.fleet.settle(1000)
    await clocks.pass(1100)
    expect((await settling).problems).toEqual([
      expect.stringMatching(/^Replica b has not handed over what it knows; it was last heard from \d\.\d s ago\.$/),
      'Replica c has not handed over 4 observations yet.',
      'Replica c had no room for 2 bad observations while the store did not answer; begin a new epoch.',
    ])
  })

  it('names a replica whose heartbeat it cannot read', async () => {
    const { clocks, memory, a } = await three()
    const newer = memory.open()
    const beat = { kind: 'beat', text: '{"form":2}', ms: 300_000 } as const
    await newer.exchange({ replica: 'd', nth: 1, changes: [beat], reads: [], isUrgent: false })
    const settling = a.fleet.settle(1000)
    const hearing = a.fleet.hear(1000)
    await clocks.pass(1100)
    expect((await settling).problems).toEqual([
      'Replica d runs another version of Crosswalk, whose heartbeat this one cannot read, so nobody knows what it has not handed over.',
    ])
    expect(await hearing).toBe(false)
    expect(a.fleet.unread()).toEqual([{ id: 'd', seenMs: expect.any(Number), isLive: true }])
  })

  it('settles when the work that had begun before has ended', async () => {
    const { clocks, a, b } = await three()
    await clocks.pass(1000)
    const began = clocks.ticks()
    Object.defineProperty(b.state, 'oldestMs', { get: () => clocks.ticks() - began, configurable: true, enumerable: true })
    const settling = a.fleet.settle(1000)
    const late = a.fleet.settle(400)
    await clocks.pass(500)
    const sentence = 'Replica b still compares answers that its clients got before you asked; ask again in some seconds.'
    expect(await late).toEqual({ problems: [sentence], busy: [sentence] })
    Object.defineProperty(b.state, 'oldestMs', { value: undefined })
    await clocks.pass(200)
    expect(await settling).toEqual({ problems: [], busy: [] })
  })

  it('does not settle without the store', async () => {
    const { clocks, a } = await three()
    a.breakable.broken = 'refuses'
    const settling = a.fleet.settle(1000)
    await clocks.pass(1100)
    expect((await settling).problems).toEqual([expect.stringContaining('The store does not answer')])
  })

  it('sends what waits in batches of 10,000 changes at most', async () => {
    const { clocks, a, b } = await three()
    let left = 25_000
    a.fleet.add({
      changes: () => Array.from({ length: left }, () => ({ kind: 'add', name: 'counted', sums: { all: 1 } }) as const),
      readings: () => [],
    })
    a.fleet.urgent()
    left = 0
    await quiet()
    expect(Math.max(...a.sent.map(({ changes }) => changes.length))).toBeLessThan(10_010)
    await clocks.pass(1000)
    expect(b.seen.at(-1)).toBe(25_000)
  })
})

describe('writes', () => {
  const DELETE = operationOf('iam.roles.delete')
  const { readBack } = DELETE
  const ROLE: WrittenResource | undefined =
    readBack && isReadBack(readBack) ? { resource: readBack.resource, uid: 'a/1', goesWith: undefined, own: {} } : undefined

  function stage() {
    const shared = sharedStage()
    const { ticks } = shared.clocks
    const join = (id: string) =>
      shared.join(id, (fleet) => {
        const [ownWrites, recentWrites] = [createOwnWrites(), new RecentWrites()]
        const writes = createSharedWrites({ ownWrites, recentWrites, operations, fleet, ticks })
        fleet.add(writes)
        const write = (params: Record<string, string>, caller: string) => {
          const ends = [recentWrites.begin(DELETE, params, caller), ownWrites.begin(caller)]
          return () => void ends.map((end) => end())
        }
        const watch = () => {
          const [own, recent] = [ownWrites.mark('ann'), recentWrites.mark()]
          return () => ({ wrote: ownWrites.hasWritten('ann', own), mayBeGone: ROLE && recentWrites.since(recent).mayBeGone(ROLE) })
        }
        return { writes, write, watch }
      })
    /** Waits for what the others tell, while the clocks move on. */
    const told = async ({ writes }: Awaited<ReturnType<typeof join>>) => {
      const answer = writes.told()
      await shared.clocks.pass(2500)
      return answer
    }
    return { ...shared, join, told }
  }

  describe('a write through another replica', () => {
    it('is known once the others have told their writes', async () => {
      const { join, told } = stage()
      const [a, b] = [await join('a'), await join('b')]
      const seen = a.watch()
      b.write({ id: 'a/1' }, 'ann')()
      expect(seen()).toEqual({ wrote: false, mayBeGone: false })
      expect(await told(a)).toBe(true)
      expect(seen()).toEqual({ wrote: true, mayBeGone: true })
    })

    it('is known as long as it is under way, and of nobody else', async () => {
      const { clocks, join, told } = stage()
      const [a, b] = [await join('a'), await join('b')]
      const end = b.write({ id: 'a/1' }, 'ann')
      await told(a)
      expect(a.watch()()).toEqual({ wrote: true, mayBeGone: true })
      end()
      await told(a)
      expect(a.watch()()).toEqual({ wrote: false, mayBeGone: false })
      b.write({ id: 'a/2' }, 'bob')
      await told(a)
      expect(a.watch()()).toEqual({ wrote: false, mayBeGone: false })
      b.write({ id: 'a/1' }, 'ann')
      await b.fleet.close()
      await clocks.pass(65_000)
      expect(a.watch()()).toEqual({ wrote: false, mayBeGone: false })
    })

    it('may be any one if there were more than are told', async () => {
      const { join, told } = stage()
      const [a, b] = [await join('a'), await join('b')]
      const seen = a.watch()
      for (let at = 0; at < 1001; at += 1) b.write({ id: `b/${at}` }, 'bob')()
      await told(a)
      expect(seen()).toEqual({ wrote: true, mayBeGone: true })
      await told(a)
      expect(a.watch()()).toEqual({ wrote: false, mayBeGone: false })
    })

    it('is unknown while the store does not answer, and another replica that has left is not asked', async () => {
      const { breaks, clocks, join, told } = stage()
      const [a, b] = [await join('a'), await join('b')]
      breaks.all = true
      expect(await told(a)).toBe(false)
      breaks.all = false
      await clocks.pass(1000)
      expect(await told(a)).toBe(true)
      await b.fleet.close()
      expect(await told(a)).toBe(true)
    })
  })

  it.each([
    ['a race', false, { races: 1, mismatches: 0 }],
    ['inconclusive while the store does not answer', true, { inconclusive: 1, mismatches: 0 }],
  ])('a resource that is created through one replica and deleted through another is %s', async (_, isDown, outcome) => {
    const memory = createMemory(Date.now)
    const [one, other] = [breakableStore(memory.open()), breakableStore(memory.open())]
    const stage = await startStage({ mode: 'diff-v2', stores: [one.store, other.store] })
    const send = async (through: TestProxy, method: string, path: string, body?: object) => {
      const answer = await stage.request(method, path, { body, through })
      expect(answer.status).toBe(200)
      return answer.body as { id: string }
    }
    const [a, b] = stage.servers
    for (const proxy of [a, b]) await send(proxy, 'GET', '/iam/v1/groups')
    await Promise.all([a, b].map((proxy) => proxy.idle()))
    await stage.fault({ match: 'GET /iam/v1/groups', delayMs: 200, times: 1 })
    for (const each of [one, other]) each.broken = isDown ? 'refuses' : undefined
    const { id } = await send(a, 'POST', `/iam/v1/groups/${stage.sandbox.organization}`, { name: 'made' })
    await send(b, 'DELETE', `/iam/v1/groups/${id}`)
    await Promise.all([a, b].map((proxy) => proxy.idle()))
    const { operations: rows } = await stage.evidence()
    expect(rows.find(({ operation }) => operation === 'iam.groups.create')).toMatchObject(outcome)
  })
})
