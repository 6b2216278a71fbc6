import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSharedBudget } from '../../src/fleet/circuits.ts'
import { shareClients } from '../../src/fleet/clients.ts'
import { createEpochs } from '../../src/fleet/epochs.ts'
import { createEvidencePart } from '../../src/fleet/evidence.ts'
import { createFleet } from '../../src/fleet/fleet.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import type { Sums } from '../../src/fleet/store/store.ts'
import { isWithin, type Sample } from '../../src/migrate/evidence/evidence.ts'
import type { EvidenceReport, Migration } from '../../src/migrate/migration.ts'
import type { Entry } from '../../src/migrate/records/record.ts'
import { runCommand } from '../app/cli/support.ts'
import { operations } from '../migrate/given.ts'
import { isFull } from '../sample.ts'
import { manualClocks, seeded } from '../stage/clocks.ts'
import { startStage, type TestProxy } from '../stage/stage.ts'
import { comparisonOf, type EvidenceReplica, evidenceIn, evidenceReplica, NAMES } from './evidence-replica.ts'
import { losable } from './stage.ts'

describe('lost store', () => {
  const KINDS = ['', '?limit=5', '?limit=500', '?offset=1']

  it('a store that came back empty keeps the verdict from READY until a person begins an epoch', async () => {
    const store = losable(Date.now)
    const stage = await startStage({ mode: 'diff-v1', stores: [store.open(), store.open()] })
    const [a, b] = stage.servers
    const read = async (count: number) => {
      for (const query of KINDS.slice(0, count)) await stage.request('GET', `/iam/v1/groups${query}`)
      await a.idle()
    }
    const asked = async (one: TestProxy) => (await fetch(`${one.adminUrl}/evidence`)).json() as Promise<EvidenceReport>
    const cutover = () =>
      runCommand(['cutover', '--each-min', '1', '--target', '0.99', '--operations', 'iam.groups.list', '--admin', b.adminUrl])
    await read(4)
    expect(await cutover()).toMatchObject({ code: 0 })

    store.lose()
    await expect
      .poll(async () => (await asked(b)).fleet?.problems)
      .toEqual([expect.stringMatching(/^The store lost what it knew of this epoch before /)])
    await read(4)
    expect(await cutover()).toMatchObject({ code: 3, out: expect.stringContaining('begin a new epoch') })
    const storeAt = async () => ((await (await fetch(`${a.adminUrl}/readyz`)).json()) as { store?: string }).store
    await expect.poll(storeAt).toContain('The store lost what it knew')
    expect(stage.servers.flatMap(({ log }) => log.filter(({ what }) => what === 'store-lost'))).toHaveLength(1)

    expect((await fetch(`${a.adminUrl}/evidence/epoch`, { method: 'POST' })).status).toBe(200)
    await read(4)
    expect((await asked(b)).fleet?.problems).toEqual([])
    expect(await cutover()).toMatchObject({ code: 0 })
  })

  it.each([
    ['right', false],
    ['wrong', true],
  ] as const)(
    'a store that knows nothing of what records tell does, too, where v2 was %s before there was one: %s',
    async (was, isMissed) => {
      const store = losable(Date.now)
      const folder = mkdtempSync(path.join(tmpdir(), 'crosswalk-lost-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const records = path.join(folder, 'records.jsonl')
      // What a process without a store saw was told to none.
      const alone = await startStage({ mode: 'diff-v1', proxy: { 'records.file': records } })
      if (was === 'wrong') await alone.fault({ match: 'GET /iam/v2/groups', change: { at: '/groups/0/name', to: 'wrong' } })
      await alone.request('GET', '/iam/v1/groups')
      await alone.idle()
      await alone.close()
      for (const isLost of [isMissed, true]) {
        const stage = await startStage({ mode: 'diff-v1', proxy: { 'records.file': records }, stores: [store.open()] })
        await stage.request('GET', '/iam/v1/roles')
        await stage.idle()
        const problems = async () => (await stage.evidence()).fleet?.problems
        await expect.poll(problems).toEqual(isLost ? [expect.stringContaining('lost what it knew')] : [])
        await stage.close()
        store.lose()
      }
    },
  )

  it('a store that came back older than the replicas can tell again does, too, and one of them notes it', async () => {
    const memory = createMemory(Date.now)
    const notes: string[] = []
    const stage = () => {
      const store = memory.open()
      const note = ({ text }: { readonly text: string }) => void notes.push(text)
      const failed = (error: unknown) => expect(error).toBeUndefined()
      const epochs = createEpochs({ store, tables: 'tables', note, now: Date.now, hasEarlier: () => false, failed })
      const read = async () => {
        for (const { read, take } of epochs.readings()) take((await store.read([read]))[0])
      }
      return { epochs, read }
    }
    const replicas = [stage(), stage()]
    const readAll = async () => {
      for (const { read } of [...replicas, ...replicas]) await read()
    }
    await readAll()
    for (const { epochs } of replicas) epochs.miss()
    await readAll()
    expect(replicas.map(({ epochs }) => epochs.lost())).toEqual([notes[0], notes[0]])
    expect(notes).toEqual([expect.stringMatching(/^The store lost what it knew of this epoch before /)])
    await replicas[0]?.epochs.begin({ source: 'admin', address: '127.0.0.1' })
    await readAll()
    expect(replicas.map(({ epochs }) => epochs.lost())).toEqual([undefined, undefined])
  })
})

describe('a replica whose clock is wrong', () => {
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
      const migration = { counting, follow: () => undefined, modes: { flush: () => {} } as Migration['modes'] }
      const readClients = shareClients(migration, fleet, noEpochs, now, operations, false)
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

describe('wrong ready', () => {
  /** 600 runs show what evidence §12 says; a few show that it still holds. */
  const RUNS = Number(process.env['CROSSWALK_CASES'] ?? (isFull ? 8 : 4))
  const isWhole = RUNS >= 200
  const SEED = Number(process.env['CROSSWALK_SEED'] ?? 18)
  const OPERATION = 'iam.groups.list'

  /** v2 is exactly as wrong as the target, so that every READY is wrong. The bound goes by their product with the observations. */
  const TARGET = 0.1
  const OBSERVATIONS = 600
  const LOOK_EVERY = 10
  const POLLS = 2

  /** Comparisons that found a fault end so many observations later: both sides are asked again. */
  const LATE = 20

  /** The ways to judge several replicas. All but the last wait for the comparisons that had begun when somebody asks. */
  type Way = 'together' | 'any alone' | 'sums of all' | 'without waiting'

  const sampleOf = ({ n = 0, bad = 0 }: Partial<Sample> = {}): Sample => ({ n, bad })

  /** One migration. Returns the ways that call it ready at one of many looks. */
  async function migrate(count: number, random: () => number, isPatient: boolean): Promise<ReadonlySet<Way>> {
    const store = createMemory(() => 0).open()
    const replicas = Array.from({ length: count }, (_, nth) => evidenceReplica(`${nth}`, store, () => 0))
    const ready = new Set<Way>()
    const judge = (way: Way, samples: readonly Sample[]) => {
      if (samples.some((one) => isWithin(one, TARGET))) ready.add(way)
    }
    const together = async (): Promise<Sample> => {
      for (const replica of replicas) await replica.exchange()
      const [found] = await store.read([{ kind: 'sums', name: NAMES.evidence }])
      const sums = (found?.value ?? {}) as Sums
      return sampleOf({ n: sums[`n ${OPERATION}`] ?? 0, bad: sums[`bad ${OPERATION}`] ?? 0 })
    }
    let underWay: { readonly due: number; readonly end: () => void }[] = []
    const end = (until: number) => {
      for (const one of underWay) if (one.due <= until) one.end()
      underWay = underWay.filter(({ due }) => due > until)
    }
    let polls = 0
    for (let nth = 1; nth <= OBSERVATIONS; nth++) {
      const isBad = random() < TARGET
      for (let poll = 0; poll < POLLS; poll++) {
        const replica = replicas[polls++ % count] as EvidenceReplica
        const compare = () =>
          replica.compared({ operation: OPERATION, caller: 'a', shape: `${nth}`, outcome: isBad ? 'mismatch' : 'match' })
        if (isBad) underWay.push({ due: nth + LATE, end: () => void compare() })
        else compare()
      }
      end(nth)
      if (nth % LOOK_EVERY > 0) continue
      if (!isPatient) {
        judge('without waiting', [await together()])
        continue
      }
      const own = replicas.map(({ evidence }) => sampleOf(evidence.of(OPERATION)))
      // What a person asks waits for the comparisons that had begun.
      end(Number.POSITIVE_INFINITY)
      judge('together', [await together()])
      judge('any alone', own)
      judge('sums of all', [own.reduce((sum, one) => ({ n: sum.n + one.n, bad: sum.bad + one.bad }), sampleOf())])
    }
    return ready
  }

  async function sharesOf(count: number): Promise<Record<Way, number>> {
    const random = seeded(SEED + count)
    const shares: Record<Way, number> = { together: 0, 'any alone': 0, 'sums of all': 0, 'without waiting': 0 }
    for (let run = 0; run < RUNS; run++) {
      for (const way of await migrate(count, random, true)) shares[way] += 1 / RUNS
      if (isWhole) for (const way of await migrate(count, random, false)) shares[way] += 1 / RUNS
    }
    return shares
  }

  describe.each([1, 4, 16])(`of ${RUNS} migrations by %i replicas (seed ${SEED})`, (count) => {
    it('at most 5 % are called ready wrongly, and more in every other way', { timeout: 300_000 }, async () => {
      const shares = await sharesOf(count)
      const limit = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / RUNS)
      expect(shares.together).toBeLessThanOrEqual(limit)
      if (!isWhole) return
      console.log(JSON.stringify(shares))
      expect(shares['without waiting']).toBeGreaterThan(limit)
      if (count > 1) expect(Math.min(shares['any alone'], shares['sums of all'])).toBeGreaterThan(limit)
    })
  })
})
