import { expect, it } from 'vitest'
import { createNotes, createSaveOrder } from '../../../src/migrate/modes/journal.ts'
import type { Entry } from '../../../src/migrate/records/record.ts'

it('records each note and tells every listener of it once', () => {
  const recorded: Entry[] = []
  const told: unknown[] = []
  const notes = createNotes({ recorder: { record: (entry) => void recorded.push(entry) }, now: () => 0, order: createSaveOrder() })
  for (const name of ['a', 'b']) notes.onNote(({ text, by }) => told.push([name, text, by]))
  notes.note({ what: 'modes', text: 'x', by: { source: 'admin', token: 'ops', address: '127.0.0.1' }, from: 'p', to: 'q', version: 2 })
  const by = { source: 'admin', token: 'ops', address: '127.0.0.1' }
  expect(recorded).toEqual([
    {
      kind: 'note',
      id: expect.any(String),
      at: '1970-01-01T00:00:00.000Z',
      what: 'modes',
      text: 'x',
      by,
      from: 'p',
      to: 'q',
      version: 2,
      nth: 1,
    },
  ])
  expect(told).toEqual([
    ['a', 'x', by],
    ['b', 'x', by],
  ])
})

it('tells every listener of a note before one that a listener made of it', () => {
  const told: string[] = []
  const notes = createNotes({ recorder: { record: () => {} }, now: () => 0, order: createSaveOrder() })
  notes.onNote(({ what }) => what === 'circuit' && notes.note({ what: 'rollout', text: 'turned back' }))
  notes.onNote(({ text }) => told.push(text))
  notes.note({ what: 'circuit', text: 'opened' })
  expect(told).toEqual(['opened', 'turned back'])
})

it('names the replica of a fleet in each note', () => {
  const recorded: Entry[] = []
  const recorder = { record: (entry: Entry) => void recorded.push(entry) }
  const notes = createNotes({ recorder, now: () => 0, order: createSaveOrder(), replica: 'a' })
  notes.onNote((note) => void recorded.push(note))
  notes.note({ what: 'restart', text: 'x' })
  expect(recorded).toMatchObject([{ replica: 'a', nth: 1 }, { replica: 'a' }])
})
