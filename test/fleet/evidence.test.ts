import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { createWaiting, evidenceNames } from '../../src/fleet/evidence.ts'
import { createRestored } from '../../src/fleet/report.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import type { EpochView } from '../../src/migrate/evidence/cutover.ts'
import type { Observation } from '../../src/migrate/evidence/evidence.ts'
import type { EvidenceReport } from '../../src/migrate/migration.ts'
import type { Comparison } from '../../src/migrate/records/record.ts'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { runCommand } from '../app/cli/support.ts'
import { seeded } from '../stage/clocks.ts'
import { startQuietSandbox, startStage, type TestProxy } from '../stage/stage.ts'
import { breakableStore } from '../stage/stores.ts'
import {
  type Compared,
  comparisonOf,
  countSlowly,
  type EvidenceReplica,
  evidenceIn,
  evidenceReplica,
  kindsSlowly,
  NAMES,
  sortedKinds,
  wrongSlowly,
} from './evidence-replica.ts'
import { type Pair, startPair } from './stage.ts'

describe('evidence part', () => {
  const START = Date.UTC(2026, 0, 2)
  const SEED = Number(process.env['CROSSWALK_SEED'] ?? 18)
  const OPERATIONS = ['iam.groups.list', 'iam.roles.list']
  const OUTCOMES = ['match', 'match', 'match', 'race', 'mismatch'] as const

  function pick<T>(random: () => number, from: readonly T[]): T {
    return from[Math.floor(random() * from.length)] as T
  }

  function stage(count: number, seed: number) {
    const random = seeded(seed)
    const clock = { now: START }
    const memory = createMemory(() => clock.now)
    const replicas = Array.from({ length: count }, (_, nth) => evidenceReplica(`${nth}`, memory.open(), () => clock.now))
    const all: Compared[] = []
    const compare = (replica: EvidenceReplica, observation: Observation) => {
      const isTally = !replica.compared(observation)
      all.push({ ...observation, at: clock.now, isTally })
    }
    const expectTruth = async () => {
      const said = await evidenceIn(memory.open(), clock.now)
      for (const operation of OPERATIONS) {
        const its = all.filter((one) => one.operation === operation).sort((a, b) => a.at - b.at)
        const known = said.find((one) => one.operation === operation)
        expect(known).toMatchObject(countSlowly(its))
        expect(sortedKinds(known)).toEqual(kindsSlowly(its))
        const wrong = (known?.kinds ?? []).flatMap(({ shape, wrongTo = [] }) => wrongTo.map((caller) => `${shape} ${caller}`))
        expect(wrong).toEqual(expect.arrayContaining([...wrongSlowly(its)]))
      }
      return said
    }
    return { random, clock, memory, replicas, compare, expectTruth }
  }

  it('what one replica had rehearsed counts once for all of them, however often it is told, and for no share', async () => {
    const { clock, memory, replicas, compare } = stage(2, SEED)
    const [one, two] = replicas as [EvidenceReplica, EvidenceReplica]
    const rehearse = (replica: EvidenceReplica, caller: string, outcome: Observation['outcome']) => {
      const { id, at, operation, shape, totals } = comparisonOf({ operation: 'iam.roles.list', caller, shape: 'x', outcome }, ++clock.now)
      replica.part.entry({ kind: 'rehearsal', id, at, caller, operation, shape, outcome, totals })
    }
    rehearse(one, 'a', 'match')
    await one.exchange(3)
    const [alone] = await evidenceIn(memory.open(), clock.now)
    expect(alone).toMatchObject({ n: 0, bad: 0, comparisons: 0, callers: 0, kinds: [{ same: 0, rehearsed: 1, callers: 1 }] })
    compare(two, { operation: 'iam.roles.list', caller: 'b', shape: 'x', outcome: 'match' })
    rehearse(two, 'a', 'match')
    rehearse(one, 'a', 'mismatch')
    for (const each of replicas) await each.exchange(2)
    const [known] = await evidenceIn(memory.open(), clock.now)
    expect(known).toMatchObject({ n: 1, bad: 0, kinds: [{ same: 1, rehearsed: 2, callers: 2, wrongTo: ['a'] }] })
  })

  it('a caller for which v2 is wrong is known to all replicas, until one of them sees it right', async () => {
    const { clock, memory, replicas, compare } = stage(2, SEED)
    const [one, two] = replicas as [EvidenceReplica, EvidenceReplica]
    const see = async (replica: EvidenceReplica, caller: string, outcome: Observation['outcome']) => {
      clock.now += 700_000
      compare(replica, { operation: 'iam.roles.list', caller, shape: 'x', outcome })
      for (const each of new Set([...replicas, replica])) await each.exchange()
      const [known] = await evidenceIn(memory.open(), clock.now)
      return known?.kinds?.[0]?.wrongTo
    }
    expect(await see(one, 'a', 'mismatch')).toEqual(['a'])
    expect(await see(two, 'b', 'match')).toEqual(['a'])
    expect(await see(two, 'a', 'race')).toEqual(['a'])
    expect(await see(two, 'a', 'match')).toBeUndefined()
    expect(await see(one, 'c', 'transient')).toBeUndefined()
    expect(await see(one, 'c', 'transient')).toEqual(['c'])
    expect(await see(two, 'a', 'error')).toEqual(['a', 'c'])
    const again = evidenceReplica('2', memory.open(), () => clock.now)
    await again.exchange()
    clock.now += 1
    expect(await see(again, 'a', 'expected')).toEqual(['c'])
    expect(await see(again, 'c', 'match')).toBeUndefined()
  })

  describe.each([1, 2, 4])(`the evidence of %i replicas (seed ${SEED})`, (count) => {
    const random = seeded(SEED)
    const drawn = (): Observation => ({
      ...{ operation: pick(random, OPERATIONS), caller: pick(random, ['a', 'b', 'c']), shape: pick(random, ['x', 'y']) },
      ...{ outcome: pick(random, OUTCOMES), ...(random() < 0.3 && { weight: 20 }) },
    })

    it('is that of one process that has served all requests, in random batches, some sent again', async () => {
      const { clock, replicas, compare, expectTruth } = stage(count, SEED)
      for (let nth = 0; nth < 400; nth++) {
        const replica = pick(random, replicas)
        for (let more = Math.floor(random() * 5); more >= 0; more--) {
          clock.now += Math.floor(random() * 60_000)
          compare(replica, drawn())
        }
        await replica.exchange(Math.floor(random() * 3))
      }
      const said = await expectTruth()
      if (count === 1) expect(said).toEqual(replicas[0]?.evidence.all())
    })

    it('is the same if batches come late and in any order', async () => {
      const { clock, replicas, compare, expectTruth } = stage(count, SEED)
      for (let era = 0; era < 40; era++) {
        for (let nth = 0; nth < 20; nth++) {
          clock.now += Math.floor(random() * 10_000)
          const { weight, ...one } = drawn()
          // Which of two comparisons comes first may not matter here.
          const isBad = (one.caller.charCodeAt(0) + era) % 3 === 0
          compare(pick(random, replicas), { ...one, outcome: isBad ? 'mismatch' : 'match' })
          if (random() < 0.2) await pick(random, replicas).exchange(1)
        }
        for (const replica of replicas) await replica.exchange()
        clock.now += 1_000_000
      }
      await expectTruth()
    })
  })

  it('tells a new store what was read back, so that the same poll is no observation again', async () => {
    const { random, clock, memory, replicas, compare } = stage(1, SEED)
    const [before] = replicas as [EvidenceReplica]
    const entries: Comparison[] = []
    for (let nth = 0; nth < 200; nth++) {
      clock.now += Math.floor(random() * 60_000)
      const poll = { operation: pick(random, OPERATIONS), caller: 'a', shape: pick(random, ['x', 'y']), outcome: pick(random, OUTCOMES) }
      if (before.evidence.all().length > 0) entries.push(comparisonOf(poll, clock.now))
      compare(before, poll)
    }
    const evidence = before.evidence.all()
    const restored = createRestored({ all: () => evidence }, () => clock.now)
    for (const entry of entries) restored.entry(entry)
    const worker = evidenceReplica('worker', memory.open(), () => clock.now)
    const store = memory.open()
    await store.exchange({ replica: 'a', nth: 1, changes: restored.changes(NAMES), reads: [], isUrgent: false })
    const counts = (all: typeof evidence) => all.map(({ callers, shapes, perDay, ...counted }) => counted)
    expect(counts(await evidenceIn(store, clock.now))).toEqual(counts(evidence))
    expect(restored.changes(NAMES)).toEqual([])
    const last = entries.findLast(({ outcome }) => outcome === 'match') as Comparison
    worker.compared({ operation: last.operation, caller: last.caller, shape: last.shape, outcome: 'match' })
    await worker.exchange()
    const known = evidence.find(({ operation }) => operation === last.operation)
    const now = (await evidenceIn(store, clock.now)).find(({ operation }) => operation === last.operation)
    expect(now).toMatchObject({ n: known?.n, comparisons: (known?.comparisons ?? 0) + 1, repeats: { n: (known?.repeats.n ?? 0) + 1 } })
  })

  it('tells a new store no pair of an epoch that has ended', () => {
    const { clock } = stage(1, SEED)
    const restored = createRestored({ all: () => [] }, () => clock.now)
    const seen = { operation: 'iam.groups.list', caller: 'a', shape: 'x', outcome: 'match' } as const
    restored.entry(comparisonOf(seen, clock.now))
    restored.entry({ kind: 'note', at: new Date(clock.now).toISOString(), what: 'epoch', text: 'a person began it' })
    expect(restored.changes(NAMES)).toEqual([])
  })

  describe('what waits for the store', () => {
    const one = (shape: string, outcome: Observation['outcome']): Observation => ({
      operation: 'iam.groups.list',
      caller: 'a',
      shape,
      outcome,
    })

    it('is handed over in parts', async () => {
      const { replicas, memory, clock } = stage(1, SEED)
      const [replica] = replicas
      for (let nth = 0; nth < 1200; nth++) replica?.compared(one(`${nth}`, 'match'))
      expect(replica?.part.state?.()).toMatchObject({ waiting: 1200, dropped: 0, lost: 0 })
      await replica?.exchange()
      expect(replica?.part.state?.()).toMatchObject({ waiting: 700 })
      await replica?.exchange()
      await replica?.exchange()
      expect(await evidenceIn(memory.open(), clock.now)).toMatchObject([{ n: 1200, comparisons: 1200, shapes: 1200 }])
    })

    it('is no observation after its ten minutes if it is clean, and one if it is not', async () => {
      const { replicas, memory, clock } = stage(2, SEED)
      for (const replica of replicas) for (const outcome of ['match', 'mismatch'] as const) replica.compared(one(outcome, outcome))
      clock.now += 600_000
      for (const replica of replicas) await replica.exchange()
      expect(await evidenceIn(memory.open(), clock.now)).toMatchObject([{ n: 1, bad: 1, repeats: { n: 1, bad: 1 } }])
      expect(replicas[0]?.part.state?.()).toMatchObject({ waiting: 0, dropped: 1, lost: 0 })
    })

    it('is told again if the store has lost it, and counted once', async () => {
      const { replicas, memory, clock } = stage(1, SEED)
      const [replica] = replicas
      const older = createMemory(() => clock.now).open()
      replica?.compared(one('kept', 'match'))
      await replica?.exchange(0, memory.open(), older)
      replica?.compared(one('gone', 'mismatch'))
      await replica?.exchange()
      replica?.part.lost?.(1)
      await replica?.exchange(0, older)
      expect(await evidenceIn(older, clock.now)).toMatchObject([{ n: 2, bad: 1, matches: 1, mismatches: 1, repeats: { n: 0 } }])
    })

    it('is missed if the store lost more than can be told again', async () => {
      const { replicas, clock } = stage(1, SEED)
      const [replica] = replicas
      for (const shape of ['a', 'b', 'c']) {
        replica?.compared(one(shape, 'match'))
        await replica?.exchange()
        clock.now += 8000
      }
      await replica?.exchange()
      replica?.part.lost?.(1)
      expect(replica?.missed()).toBe(0)
      replica?.part.lost?.(2)
      expect(replica?.missed()).toBe(1)
    })

    it('drops clean observations alone, and says how many bad ones were lost', () => {
      const { part } = evidenceReplica('a', createMemory(() => START).open(), () => START, 10)
      const add = (count: number, outcome: Observation['outcome']) => {
        for (let nth = 0; nth < count; nth++) part.entry(comparisonOf(one(`${nth}`, outcome), START))
      }
      add(12, 'match')
      expect(part.state?.()).toMatchObject({ waiting: 10, dropped: 2, lost: 0 })
      add(11, 'error')
      expect(part.state?.()).toMatchObject({ waiting: 10, dropped: 12, lost: 1 })
      const [told] = part.changes().filter((change) => 'sums' in change && 'lost a' in change.sums)
      expect(told).toMatchObject({ kind: 'add', sums: { 'lost a': 1 } })
      part.begin(evidenceNames({ nth: 1, hash: 'tables' }))
      expect(part.state?.()).toMatchObject({ waiting: 0, dropped: 0, lost: 0 })
    })

    it('is bounded by 100,000 observations', () => {
      const waiting = createWaiting<{ readonly at: number }>()
      for (let at = 0; at < 100_001; at++) waiting.add({ at }, at % 2 === 0)
      expect(waiting.counts()).toEqual({ waiting: 100_000, dropped: 1, lost: 0 })
    })
  })
})

describe('fleet evidence', () => {
  describe('two replicas that share a store', () => {
    let sandbox: Sandbox
    let pair: Pair
    beforeAll(async () => {
      sandbox = await startQuietSandbox()
    })
    beforeEach(async () => {
      pair = await startPair({}, sandbox)
    })
    afterEach(() => pair.close())
    const asked = async (one: TestProxy) =>
      (await fetch(`${one.adminUrl}/evidence`)).json() as Promise<EvidenceReport & Required<Pick<EvidenceReport, 'fleet'>>>
    const cutover = (...some: TestProxy[]) =>
      runCommand(['cutover', '--each', '--target', '0.9', ...some.flatMap((one) => ['--admin', one.adminUrl])])

    it('say at either one what both have seen, each pair once', async () => {
      const { a, b, get } = pair
      for (const one of [a, b, a, b]) for (const query of ['?limit=1', '?order_by=name']) await get(one, `/iam/v1/groups${query}`)
      await get(b, '/iam/v1/roles')
      const [here, there] = [await asked(a), await asked(b)]
      const groups = { operation: 'iam.groups.list', comparisons: 8, n: 2, bad: 0, repeats: { n: 6 }, callers: 1, shapes: 2 }
      expect(here).toMatchObject({ operations: [groups, { operation: 'iam.roles.list', n: 1 }], fleet: { problems: [] } })
      expect(here.traffic).toEqual({ 'iam.groups.list': 8, 'iam.roles.list': 1 })
      const { fleet, operations, traffic, declarations } = there
      const counted = (some: typeof operations) => some.map(({ circuit, ...counts }) => counts)
      expect(counted(here.operations)).toEqual(counted(operations))
      expect(here).toMatchObject({ traffic, declarations })
      expect(fleet.replicas.map(({ id }) => id)).toContain(here.fleet.self)
      expect(fleet.epoch).toMatchObject({ nth: 0 })
    })

    it('are one fleet for a cutover that asks both', async () => {
      const { a, b, get } = pair
      for (const one of [a, b]) for (const query of ['?limit=1', '?order_by=name']) await get(one, `/iam/v1/groups${query}`)
      const { out, code } = await cutover(a, b)
      expect(out).toContain('after 2 observations')
      expect(out).not.toContain('reached more than one proxy')
      expect(code).toBe(1)
    })

    it('are not judged while one of them does not hand over what it knows', async () => {
      const { a, b, get, breakable } = pair
      await get(b, '/iam/v1/roles')
      breakable.broken = 'refuses'
      await get(a, '/iam/v1/roles?limit=1')
      const { fleet } = await asked(b)
      expect(fleet.problems).toEqual([expect.stringContaining('has not handed over what it knows')])
      const { out, code } = await cutover(b)
      expect(out).toMatch(/^INCONCLUSIVE: Replica \S+ has not handed over what it knows/m)
      expect(code).toBe(3)
      expect((await asked(a)).fleet.problems).toEqual([expect.stringContaining('store does not answer')])
      breakable.broken = undefined
      expect(await asked(b)).toMatchObject({ fleet: { problems: [] }, traffic: { 'iam.roles.list': 2 } })
    })

    it('begin an epoch together, and forget what was seen before', async () => {
      const { a, b, get } = pair
      await get(a, '/iam/v1/groups')
      expect(await asked(b)).toMatchObject({ operations: [{ n: 1 }], traffic: { 'iam.groups.list': 1 }, fleet: { epoch: { nth: 0 } } })
      const begun = (await (await fetch(`${a.adminUrl}/evidence/epoch`, { method: 'POST' })).json()) as EpochView
      expect(begun).toMatchObject({ nth: 1, by: { source: 'admin' } })
      expect(await asked(b)).toMatchObject({ operations: [], traffic: {}, fleet: { problems: [], epoch: begun } })
      await get(b, '/iam/v1/groups')
      expect(await asked(a)).toMatchObject({ operations: [{ operation: 'iam.groups.list', n: 1 }], traffic: { 'iam.groups.list': 1 } })
      expect(a.log.filter(({ what }) => what === 'epoch')).toHaveLength(1)
    })

    describe('a process that begins while the store does not answer', () => {
      let late: TestProxy
      afterEach(() => late.close())
      /** It knows what an earlier one kept. */
      async function begin(inner: Store) {
        const { a, another } = pair
        const folder = mkdtempSync(join(tmpdir(), 'crosswalk-cache-'))
        onTestFinished(() => rmSync(folder, { recursive: true }))
        const kept = { 'store.cache': join(folder, 'modes.json') }
        const earlier = await another(kept)
        await fetch(`${a.adminUrl}/evidence/epoch`, { method: 'POST' })
        expect(await asked(earlier)).toMatchObject({ fleet: { epoch: { nth: 1 } } })
        await earlier.close()
        const breakable = breakableStore(inner)
        breakable.broken = 'refuses'
        const stage = await startStage({ sandbox, mode: 'diff-v1', proxy: kept, join: joinFleet(breakable.store) })
        late = stage
        return { stage, breakable }
      }

      it('counts in the epoch that it knows', async () => {
        const { stage, breakable } = await begin(pair.open())
        await stage.request('GET', '/iam/v1/groups')
        await stage.settled()
        breakable.broken = undefined
        await asked(stage)
        expect(await asked(pair.b)).toMatchObject({
          operations: [{ operation: 'iam.groups.list', n: 1 }],
          traffic: { 'iam.groups.list': 1 },
          fleet: { epoch: { nth: 1 }, problems: [] },
        })
        const clients = await (await fetch(`${pair.b.adminUrl}/clients`)).json()
        expect(clients).toMatchObject([{ operations: [{ operation: 'iam.groups.list' }] }])
      })

      it('says that a store which has no such epoch lost it', async () => {
        const { stage, breakable } = await begin(createMemory(Date.now).open())
        breakable.broken = undefined
        const { fleet } = await asked(stage)
        expect(fleet).toMatchObject({ epoch: { nth: 1 }, problems: [expect.stringMatching(/^The store lost what it knew/)] })
      })
    })

    it('say that they are of different epochs', async () => {
      const { a, b, get, another } = pair
      await get(b, '/iam/v1/groups')
      const other = await another({ 'upstream.v2Build': 'next' })
      const [here, there] = [await asked(a), await asked(other)]
      await other.close()
      expect(here.fleet.problems).toEqual([expect.stringMatching(/^Replica \S+ has other mapping tables or another v2 build/)])
      expect(there).toMatchObject({ operations: [], traffic: { 'iam.groups.list': 1 }, fleet: { epoch: { build: 'next' } } })
    })
  })

  it('has no epochs without a store', async () => {
    const proxy = await startStage({ v1: null, v2: 'http://127.0.0.1:1' })
    expect((await fetch(`${proxy.adminUrl}/evidence/epoch`, { method: 'POST' })).status).toBe(400)
  })
})
