import { expect, it } from 'vitest'
import { createNotesPart, createNotesTold } from '../../src/fleet/comparisons.ts'
import { createLeader } from '../../src/fleet/fleet.ts'
import { createMemory, type Memory } from '../../src/fleet/store/memory.ts'
import { createNotes, createSaveOrder } from '../../src/migrate/modes/journal.ts'
import { type ManualClocks, manualClocks } from '../stage/manual-clocks.ts'
import { seeded } from '../stage/seeded.ts'
import { cuttable, fleetOf } from './cuttable.ts'

/** A replica that notes, and `told`: what it told of. The receiver takes an event when `take` is called. */
async function replicaOf(id: string, memory: Memory, clocks: ManualClocks) {
  const cut = cuttable(memory.open())
  const notes = createNotes({ recorder: { record: () => {} }, now: clocks.now, order: createSaveOrder(), replica: id })
  const fleet = fleetOf(id, cut.store, clocks)
  const leader = createLeader({ id, ticks: clocks.ticks })
  const { onNote } = notes
  const part = createNotesPart({ id, onNote, soon: fleet.soon, follow: () => {}, hear: () => {} })
  const told = createNotesTold({ fleet, leader, notes: part, onNote, clocks })
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
