import { expect, it } from 'vitest'
import { EVENT_TYPES, notificationOf, PING, pingOf, WHOLE_TYPES } from '../../src/admin/notify.ts'
import { iamRules, PERSON, simulate } from '../modes/rollout/simulated.ts'
import { problemsOf, TYPES } from './event-schema.ts'
import { SAMPLES } from './sample-notes.ts'

const [AT, SOURCE] = ['2026-01-01T00:00:00.000Z', 'urn:crosswalk:test']
const eventOf = (note: (typeof SAMPLES)[number]) => notificationOf({ kind: 'note', id: 'an-id', at: AT, ...note }, SOURCE)

it.each(SAMPLES)('becomes an event within the published schema: $what $operation', (note) => {
  expect(problemsOf(eventOf(note))).toEqual([])
})

it('has a type for each kind of note, which the schema lists and a sample shows', () => {
  const types = [...Object.values(EVENT_TYPES), ...Object.values(WHOLE_TYPES)].map(({ type }) => type)
  expect([...types, PING].sort()).toEqual([...TYPES].sort())
  expect([...new Set(SAMPLES.map((note) => eventOf(note).type))].sort()).toEqual(types.sort())
})

it('has the operation or the rollout as its subject, and the note without its envelope as its data', () => {
  const [circuit, , modes, rollout] = SAMPLES.map(eventOf)
  expect([circuit?.subject, modes?.subject, rollout?.subject]).toEqual(['registry.repos.list', undefined, 'iam-reads'])
  expect(circuit).toMatchObject({ id: 'an-id', source: SOURCE, time: AT, data: SAMPLES[0] })
  expect(Object.keys(circuit?.data ?? {}).sort()).toEqual(Object.keys(SAMPLES[0] ?? {}).sort())
})

it('cuts texts that are too long for a receiver', () => {
  const long = 'x'.repeat(300_000)
  const event = eventOf({ what: 'modes', text: long, from: long, to: long })
  expect(problemsOf(event)).toEqual([])
  expect(JSON.stringify(event).length).toBeLessThan(20_000)
})

it('can be a test, which says that nothing has changed', () => {
  expect(problemsOf(pingOf('an-id', AT, SOURCE))).toEqual([])
})

it('names a rollout in each event of its run', () => {
  const simulation = simulate(iamRules())
  simulation.minutes(40)
  expect(simulation.rollouts.steer('iam', 'pause', PERSON) ?? 'paused').toBe('paused')
  const notes = simulation.entries.flatMap((entry) => (entry.kind === 'note' ? [notificationOf({ ...entry, id: 'an-id' }, SOURCE)] : []))
  expect(notes.length).toBeGreaterThan(3)
  expect([...new Set(notes.map(({ type, subject }) => `${type} ${subject}`))]).toEqual(['crosswalk.rollout.moved iam'])
  expect(notes.flatMap(problemsOf)).toEqual([])
})
