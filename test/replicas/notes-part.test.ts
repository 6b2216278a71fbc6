import { expect, it } from 'vitest'
import { createNotesPart, KEPT_NOTES } from '../../src/fleet/comparisons.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import { createNotes, createSaveOrder } from '../../src/migrate/modes/journal.ts'
import type { Entry } from '../../src/migrate/records/record.ts'
import { type ManualClocks, manualClocks } from '../stage/manual-clocks.ts'
import { cuttable, fleetOf } from './cuttable.ts'

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
    ...{ id, onNote: notes.onNote, soon: fleet.soon },
    follow: (listener) => void listeners.push(listener),
    hear: ({ text, replica }) => void heard.push(`${text} by ${replica}`),
  })
  part.onLogged(({ note, isOwn }) => void logged.push(`${note.text}${isOwn ? ' (own)' : ''}`))
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
    ['1 (own)', '2'],
    ['1', '2 (own)'],
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

it('bounds what waits, and shortens long texts', async () => {
  const { clocks, a, b } = await two()
  a.cut.cut = 'requests'
  for (let nth = 0; nth < KEPT_NOTES + 300; nth += 1) a.say(`${nth} ${'x'.repeat(5000)}`)
  await clocks.pass(1000)
  a.cut.cut = 'no'
  await clocks.pass(3000)
  expect([b.heard.length, b.heard[0]?.slice(0, 4), b.heard[0]?.length]).toEqual([KEPT_NOTES, '300 ', 4005])
})
