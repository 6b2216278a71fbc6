import { describe, expect, it } from 'vitest'
import { createNotesPart, createNotesReported, KEPT_NOTES } from '../../src/fleet/comparisons.ts'
import { createLeader } from '../../src/fleet/fleet.ts'
import { createReadinessPart } from '../../src/fleet/judging.ts'
import { createMemory, type Memory } from '../../src/fleet/store/memory.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import type { CutoverVerdict, OperationVerdict } from '../../src/migrate/evidence/cutover.ts'
import { createNotes, createSaveOrder } from '../../src/migrate/modes/journal.ts'
import type { Entry } from '../../src/migrate/records/record.ts'
import { type ManualClocks, manualClocks, seeded } from '../stage/clocks.ts'
import { cuttable, fleetOf, losable } from './stage.ts'

describe('notes part', () => {
  /** A replica that makes notes, and `heard`: what it heard of those of others. */
  async function replicaOf(id: string, inner: Store, clocks: ManualClocks, readBack: readonly Entry[] = []) {
    const cut = cuttable(inner)
    const listeners: ((entry: Entry) => void)[] = []
    const records: Entry[] = []
    const record = (entry: Entry) => {
      records.push(entry)
      for (const listener of listeners) listener(entry)
    }
    const notes = createNotes({ recorder: { record }, now: clocks.now, order: createSaveOrder(), replica: id })
    const fleet = fleetOf(id, cut.store, clocks)
    const heard: string[] = []
    const logged: string[] = []
    const part = createNotesPart({
      onNote: notes.onNote,
      soon: fleet.soon,
      follow: (listener) => void listeners.push(listener),
      hear: ({ text, replica }) => void heard.push(`${text} by ${replica}`),
    })
    part.onLogged(({ note }) => void logged.push(note.text))
    fleet.add(part)
    for (const entry of readBack) record(entry)
    await fleet.start()
    const say = (text: string) => notes.note({ what: 'restart', text })
    return { cut, fleet, heard, logged, records, say }
  }

  async function two() {
    const clocks = manualClocks()
    const memory = createMemory(clocks.now)
    const a = await replicaOf('a', memory.open(), clocks)
    const b = await replicaOf('b', memory.open(), clocks)
    return { clocks, memory, a, b }
  }

  it('tells each replica the notes of the others once, in one order', async () => {
    const { clocks, a, b } = await two()
    a.say('1')
    await clocks.pass(200)
    b.say('2')
    await clocks.pass(2000)
    expect([a.heard, b.heard]).toEqual([['2 by b'], ['1 by a']])
    expect([a.logged, b.logged]).toEqual([
      ['1', '2'],
      ['1', '2'],
    ])
  })

  it('tells a new process the whole journal, without what its records know', async () => {
    const { clocks, memory, a } = await two()
    a.say('1')
    await clocks.pass(200)
    a.say('2')
    await clocks.pass(200)
    await a.fleet.close()
    const next = await replicaOf('a2', memory.open(), clocks, a.records.slice(0, 1))
    expect(next.heard).toEqual(['2 by a'])
  })

  it('keeps notes while the store does not answer, and hands each over once', async () => {
    const { clocks, a, b } = await two()
    a.cut.cut = 'answers'
    a.say('1')
    await clocks.pass(5000)
    a.say('2')
    await clocks.pass(5000)
    a.cut.cut = 'no'
    await clocks.pass(3000)
    expect(b.heard).toEqual(['1 by a', '2 by a'])
  })

  it('hears what is noted after the store came back older', async () => {
    const clocks = manualClocks()
    const { open, backUp } = losable(clocks.now)
    const a = await replicaOf('a', open(), clocks)
    const b = await replicaOf('b', open(), clocks)
    a.say('1')
    await clocks.pass(2000)
    const restore = backUp()
    const gone = await replicaOf('gone', open(), clocks)
    for (const text of ['2', '3', '4']) gone.say(text)
    await clocks.pass(2000)
    await gone.fleet.close()
    restore()
    await clocks.pass(2000)
    b.say('5')
    await clocks.pass(2000)
    expect([a.heard, b.logged]).toEqual([
      ['2 by gone', '3 by gone', '4 by gone', '5 by b'],
      ['1', '2', '3', '4', '5'],
    ])
  })

  it('bounds what waits, and shortens long texts', async () => {
    const { clocks, a, b } = await two()
    a.cut.cut = 'requests'
    for (let nth = 0; nth < KEPT_NOTES + 300; nth += 1) a.say(`${nth} ${'x'.repeat(5000)}`)
    await clocks.pass(1000)
    a.cut.cut = 'no'
    await clocks.pass(3000)
    expect([b.heard.length, b.heard[0]?.slice(0, 4), b.heard[0]?.length]).toEqual([KEPT_NOTES, '300 ', 4005])
  })
})

describe('notes told', () => {
  /** A replica that notes, and `told`: what it told of. The receiver takes an event when `take` is called. */
  async function replicaOf(id: string, memory: Memory, clocks: ManualClocks) {
    const cut = cuttable(memory.open())
    const notes = createNotes({ recorder: { record: () => {} }, now: clocks.now, order: createSaveOrder(), replica: id })
    const fleet = fleetOf(id, cut.store, clocks)
    const leader = createLeader(id, clocks.ticks)
    const { onNote } = notes
    const part = createNotesPart({ onNote, soon: fleet.soon, follow: () => {}, hear: () => {} })
    const told = createNotesReported({ fleet, leader, notes: part, onNote, clocks })
    for (const one of [leader, told, part]) fleet.add(one)
    const texts: string[] = []
    const open: (() => void)[] = []
    told.onTell(({ text }, ended) => {
      texts.push(text)
      open.push(ended)
    })
    await fleet.start()
    const end = clocks.repeat(told.look, 1000)
    return {
      ...{ cut, leader, texts },
      take() {
        for (const ended of open.splice(0)) ended()
      },
      say: (text: string) => notes.note({ what: 'restart', text }),
      kill() {
        end()
        cut.cut = 'requests'
      },
    }
  }

  async function three() {
    const clocks = manualClocks()
    const memory = createMemory(clocks.now)
    const start = (id: string) => replicaOf(id, memory, clocks)
    const [a, b, c] = [await start('a'), await start('b'), await start('c')]
    await clocks.pass(1000)
    return { clocks, start, a, b, c, all: [a, b, c] }
  }

  it('tells of the notes of all at one replica, in their order', async () => {
    const { clocks, all, b, c } = await three()
    b.say('1')
    await clocks.pass(300)
    c.say('2')
    await clocks.pass(2000)
    expect(all.map(({ texts }) => texts)).toEqual([['1', '2'], [], []])
  })

  it('tells at another replica what the one that told was not done with', async () => {
    const { clocks, a, b, c } = await three()
    for (const text of ['1', '2']) c.say(text)
    await clocks.pass(2000)
    a.take()
    await clocks.pass(1000)
    c.say('3')
    await clocks.pass(2000)
    a.kill()
    await clocks.pass(6000)
    expect([a.texts, [...b.texts, ...c.texts]]).toEqual([['1', '2', '3'], ['3']])
  })

  it('tells of its own notes while the store does not answer', async () => {
    const { clocks, a, b } = await three()
    b.cut.cut = 'requests'
    b.say('1')
    await clocks.pass(4000)
    expect(b.texts).toEqual([])
    await clocks.pass(3000)
    expect([a.texts, b.texts]).toEqual([[], ['1']])
  })

  it('tells a new process of nothing that was told of before', async () => {
    const { clocks, start, a, b, c } = await three()
    b.say('1')
    await clocks.pass(2000)
    a.take()
    await clocks.pass(1000)
    for (const one of [a, b, c]) one.kill()
    await clocks.pass(10_000)
    const next = await start('d')
    await clocks.pass(5000)
    next.say('2')
    await clocks.pass(2000)
    expect(next.texts).toEqual(['2'])
  })

  it('tells of each note, whichever replicas die or are cut off', async () => {
    const seed = Number(process.env['CROSSWALK_SEED'] ?? 7)
    const random = seeded(seed)
    const { clocks, start, all } = await three()
    const texts: string[] = []
    const dead: string[] = []
    for (let nth = 0; nth < 40; nth += 1) {
      const at = Math.floor(random() * 3)
      const one = all[at]
      if (!one) continue
      one.say(`${nth}`)
      texts.push(`${nth}`)
      if (random() < 0.5) one.take()
      await clocks.pass(1500)
      if (random() < 0.2) one.cut.cut = one.cut.cut === 'no' ? 'answers' : 'no'
      if (random() < 0.1 && one.cut.cut === 'no') {
        one.kill()
        dead.push(...one.texts)
        all[at] = await start(`${nth}`)
      }
    }
    for (const one of all) one.cut.cut = 'no'
    await clocks.pass(10_000)
    const told = [...dead, ...all.flatMap((one) => one.texts)]
    expect(
      texts.filter((text) => !told.includes(text)),
      `CROSSWALK_SEED=${seed}`,
    ).toEqual([])
  })
})

describe('readiness part', () => {
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
    const leader = createLeader(id, clocks.ticks)
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
})
