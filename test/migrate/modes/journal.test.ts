import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { logNotes } from '../../../src/app/server/migration.ts'
import { createInventory } from '../../../src/migrate/clients.ts'
import { createEvidence } from '../../../src/migrate/evidence/evidence.ts'
import { USUAL_TERMS } from '../../../src/migrate/evidence/terms.ts'
import { createReadinessWatch, judgeReadiness, LOOK_EVERY } from '../../../src/migrate/migration.ts'
import { createNotes, createSaveOrder } from '../../../src/migrate/modes/journal.ts'
import type { Actor, Entry, Note, TrafficEntry } from '../../../src/migrate/records/record.ts'
import type { RolloutStatus } from '../../../src/migrate/rollout/machine.ts'
import { operations } from '../given.ts'

describe('note log', () => {
  const lineOf = (note: Omit<Note, 'kind' | 'at'>) => {
    const lines: unknown[] = []
    const at = (level: string) => (members: object, text: string) => void lines.push([level, text, members])
    logNotes({ info: at('info'), warn: at('warn') } as never)({ kind: 'note', id: 'x', at: '1970-01-01T00:00:00Z', ...note })
    return lines
  }

  it('writes one line with the members of the record', () => {
    const members = { what: 'modes', by: { source: 'admin', token: 'alice' }, from: 'a', to: 'b', version: 2 } as const
    expect(lineOf({ ...members, text: 'alice: a → b' })).toEqual([['info', 'the modes changed: alice: a → b', members]])
  })

  it.each([
    ['rollout', 'turned-back (0 %)', 'warn'],
    ['rollout', 'paused at step 1 of 2 (5 %)', 'warn'],
    ['rollout', 'running at step 2 of 2 (50 %)', 'info'],
    ['admin', 'paused at step 1 of 2 (5 %)', 'info'],
  ] as const)('of a rollout that the %s moved to "%s" has the level %s', (source: Actor['source'], to, level) => {
    const note = { what: 'rollout', rollout: 'iam', by: { source }, to, text: 'rollout iam: why' } as const
    expect(lineOf(note)).toMatchObject([[level, 'rollout iam: why', { rollout: 'iam', to }]])
  })
})

describe('notes', () => {
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
})

describe('readiness watch', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }))
  afterEach(() => void vi.useRealTimers())

  const GROUPS = 'iam.groups.list'
  const ENTRY: TrafficEntry = { kind: 'traffic', at: '1970-01-01T00:00:00.000Z', operation: GROUPS, mode: 'diff-v1', calls: 1, caller: 'c' }

  /** A watch over evidence that `observe` adds to; `told` lists what it noted. */
  function setUp() {
    const told: string[] = []
    const [evidence, inventory] = [createEvidence(() => 0), createInventory(operations)]
    const note = ({ what, operation = 'all' }: Pick<Note, 'what' | 'operation'>) => {
      told.push(`${operation} ${what}`)
      watch.entry({ kind: 'note', at: ENTRY.at, what, text: '', ...(operation !== 'all' && { operation }) })
    }
    const judged = vi.fn(() => ({}))
    const rollouts: RolloutStatus[] = []
    const parts = { openCircuits: judged, rollouts: () => rollouts, operations, terms: () => USUAL_TERMS, now: Date.now }
    const watch = createReadinessWatch({ evidence, inventory, note }, Date.now, (counted) => judgeReadiness(parts, counted))
    const observe = (count: number, outcome: 'match' | 'mismatch' = 'match') => {
      for (let nth = 0; nth < count; nth += 1) {
        const [caller, shape] = [`c${Math.floor(nth / 100)}`, `${GROUPS}?${outcome}=${nth % 100}`]
        evidence.observe({ operation: GROUPS, caller, shape, outcome }, 0)
      }
    }
    return { watch, told, observe, judged, rollouts }
  }

  it('looks only after entries, and once in its time', () => {
    const { watch, told, observe, judged } = setUp()
    watch.start()
    vi.advanceTimersByTime(10 * LOOK_EVERY)
    expect(judged).toHaveBeenCalledTimes(1)
    observe(3300)
    for (let nth = 0; nth < 100; nth += 1) watch.entry(ENTRY)
    expect(told).toEqual([])
    vi.advanceTimersByTime(10 * LOOK_EVERY)
    expect(told).toEqual([`${GROUPS} ready`, 'all ready'])
    // What is ready is judged once more, with what clients ask.
    expect(judged).toHaveBeenCalledTimes(3)
  })

  it('tells nothing at the start that the records know', () => {
    const { watch, told, observe } = setUp()
    observe(3300)
    watch.entry(ENTRY)
    watch.start()
    watch.entry(ENTRY)
    vi.advanceTimersByTime(LOOK_EVERY)
    watch.close()
    expect(told).toEqual([])
  })

  it('tells after a restart what the last process could not', () => {
    const { watch, told, observe } = setUp()
    const ready: Entry = { kind: 'note', at: ENTRY.at, what: 'ready', operation: GROUPS, text: '' }
    watch.entry(ready)
    observe(3300)
    observe(20, 'mismatch')
    watch.start()
    watch.entry(ENTRY)
    vi.advanceTimersByTime(LOOK_EVERY)
    expect(told).toEqual([`${GROUPS} not-ready`])
  })

  it('looks again by itself until what became ready again is told', () => {
    const { watch, told, observe } = setUp()
    watch.entry({ kind: 'note', at: ENTRY.at, what: 'not-ready', operation: GROUPS, text: '' })
    watch.start()
    observe(3300)
    watch.entry(ENTRY)
    vi.advanceTimersByTime(LOOK_EVERY)
    expect(told).toEqual(['all ready'])
    vi.advanceTimersByTime(300_000)
    expect(told).toEqual(['all ready', `${GROUPS} ready`])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('looks a last time when it is closed', () => {
    const { watch, told, observe } = setUp()
    watch.start()
    observe(3300)
    watch.entry(ENTRY)
    watch.close()
    expect(told).toEqual([`${GROUPS} ready`, 'all ready'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('calls an operation whose rollout turned back not ready', () => {
    const { watch, told, observe, rollouts } = setUp()
    observe(3300)
    watch.start()
    rollouts.push({ name: 'reads', reach: [GROUPS], phase: 'turned-back', reason: 'v2 was wrong.' } as unknown as RolloutStatus)
    watch.entry({ kind: 'note', at: ENTRY.at, what: 'rollout', rollout: 'reads', text: '' })
    vi.advanceTimersByTime(LOOK_EVERY)
    expect(told).toEqual([`${GROUPS} not-ready`, 'all not-ready'])
  })
})
