import { z } from 'zod'
import type { Migration } from '../migrate/migration.ts'
import type { IdentifiedNote, Notes } from '../migrate/modes/journal.ts'
import { comparisonSchema, noteSchema } from '../migrate/records/read-entry.ts'
import { type Comparison, type Entry, NOTE_KINDS } from '../migrate/records/record.ts'
import { type ComparisonQuery, createRing } from '../migrate/records/record-file.ts'
import { type FleetClocks, type FleetReading, reading, readText } from './exchange.ts'
import type { Fleet, Leader } from './fleet.ts'
import type { LogItem, Store, StoreChange } from './store/store.ts'

/** Maximum characters of one comparison in the store. */
const LONGEST = 16_000

/** Returns a comparison as the store keeps it: without what is least needed, as far as it is too long. Undefined if it always is. */
function textOfComparison(comparison: Comparison): string | undefined {
  const { exhibit: _, ...shown } = comparison
  const { answers: __, ...short } = { ...shown, examples: shown.examples.map(({ around: ___, ...example }) => example) }
  const texts = [comparison, shown, short, { ...short, examples: [] }].map((one) => JSON.stringify(one))
  return texts.find((text) => text.length <= LONGEST)
}

/** Reads a comparison. Undefined if another version of Crosswalk wrote it in another form. */
function comparisonIn(text: string): Comparison | undefined {
  return readText(comparisonSchema, text) as Comparison | undefined
}

interface ComparisonsSources {
  /** This replica. */
  readonly id: string
  readonly store: Pick<Store, 'read'>
  /** Comparisons of others that are kept here. */
  readonly memory: number
  /** Asks for an exchange. */
  readonly soon: () => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Comparisons, and notes, that the store keeps, and those of one replica that wait while the store does not answer. */
export const KEPT_COMPARISONS = 1000
export const KEPT_NOTES = 1000

/** Maximum comparisons of a replica in a minute that differ in the same way, so that a frequent one leaves room for a rare one. */
export const MOST_ALIKE = 10

/** Own comparisons, and own notes, that are told again if the store loses them. */
const REPEATED = 100

/** Adds texts to a log of the store, at most so many at once. What the store lost lately is told again. */
function createOwnLog(name: string, items: number, atOnce = items) {
  const waiting: string[] = []
  const told: string[] = []
  return {
    add(text: string) {
      waiting.push(text)
      if (waiting.length > items) waiting.shift()
    },
    changes(): readonly StoreChange[] {
      const handed = waiting.splice(0, atOnce)
      told.push(...handed)
      told.splice(0, told.length - REPEATED)
      return handed.map((text) => ({ kind: 'log', name, text, items }))
    },
    lost() {
      waiting.unshift(...told.splice(0))
    },
  }
}

/** Remembers the last ids. `add` returns true if the id was not there. */
function createKnownIds(most: number) {
  const ids = new Set<string>()
  return {
    add(id: string): boolean {
      if (ids.has(id)) return false
      ids.add(id)
      if (ids.size > most) ids.delete(ids.values().next().value ?? '')
      return true
    },
  }
}

const MINUTE = 60_000

const NAME = 'comparisons'

type ComparisonsPart = ReturnType<typeof createComparisonsPart>

/** The last comparisons with a difference of all replicas, as far as they are shared. */
export function createComparisonsPart({ id, store, memory, soon, now }: ComparisonsSources) {
  const listeners: ((comparison: Comparison) => void)[] = []
  const ring = createRing<Comparison>(memory)
  const own = createOwnLog(NAME, KEPT_COMPARISONS, REPEATED)
  const known = createKnownIds(4 * KEPT_COMPARISONS)
  const isRare = createRarity(now)
  const take = ({ replica, text }: LogItem) => {
    const comparison = comparisonIn(text)
    if (!comparison || replica === id || !known.add(comparison.id)) return
    ring.add(comparison)
    for (const listener of listeners) listener(comparison)
  }
  const log = reading('log', NAME, (items) => {
    for (const item of items) take(item)
  })
  return {
    /** Takes an entry that is recorded here now. */
    entry(entry: Entry) {
      if (entry.kind !== 'comparison' || entry.outcome === 'match') return
      const text = isRare(entry) ? textOfComparison(entry) : undefined
      if (text === undefined) return
      own.add(text)
      soon()
    },
    /** Takes an entry that is known here, now or from an earlier life. */
    know(entry: Entry) {
      if (entry.kind === 'comparison' && entry.outcome !== 'match') known.add(entry.id)
    },
    changes: own.changes,
    readings: (): readonly FleetReading[] => [],
    lost: own.lost,
    /** Reads what other replicas have shared since the last call. Rejects as `Store.read` does. */
    async read() {
      const [found] = await store.read([log.read])
      log.take(found)
    },
    /** Is called for each comparison of another replica that was read. */
    onRead: (listener: (comparison: Comparison) => void): void => void listeners.push(listener),
    /** Returns the last ones of other replicas, newest first. */
    others: ({ operation, limit }: ComparisonQuery): readonly Comparison[] =>
      ring.last(limit, (one) => operation === undefined || one.operation === operation),
  }
}

/** Returns true for the first comparisons of a minute that differ in one way. */
function createRarity(now: () => number): (comparison: Comparison) => boolean {
  let minute = 0
  let alike = new Map<string, number>()
  return ({ operation, outcome, reason, totals: [first] }) => {
    const current = Math.floor(now() / MINUTE)
    if (current !== minute) alike = new Map()
    minute = current
    const way = [operation, outcome, first ? `${first.kind} ${first.where}` : reason].join('\n')
    const times = (alike.get(way) ?? 0) + 1
    alike.set(way, times)
    return times <= MOST_ALIKE
  }
}

/** Shares the last comparisons with a difference with the fleet. `memory` of those of others are kept here. */
export function shareComparisons(
  { counting, follow }: Pick<Migration, 'counting' | 'follow'>,
  { id, store, soon, add }: Pick<Fleet, 'id' | 'store' | 'soon' | 'add'>,
  { now }: Pick<FleetClocks, 'now'>,
  memory: number,
): ComparisonsPart {
  const part = createComparisonsPart({ id, store, memory, soon, now })
  follow(part.know)
  counting.followOwn(part.entry)
  add(part)
  return part
}

/** Characters of one text. Rules of modes may have any length, and every replica reads the whole journal at its start. */
const LONGEST_NOTE = 4000

const cut = (text: string | undefined) => (text !== undefined && text.length > LONGEST_NOTE ? `${text.slice(0, LONGEST_NOTE - 1)}…` : text)

/** Returns a note as the store keeps it. */
function textOfNote({ nth: _, ...note }: IdentifiedNote): string {
  return JSON.stringify({ ...note, text: cut(note.text), from: cut(note.from), to: cut(note.to) })
}

/** A note of a kind that a later version of Crosswalk knows is left out. */
const sharedNote = noteSchema.extend({ id: z.string().min(1), what: z.enum(NOTE_KINDS) })

/** Reads a note. Undefined if another version of Crosswalk wrote it in another form. */
function noteIn(text: string): IdentifiedNote | undefined {
  return readText(sharedNote, text) as IdentifiedNote | undefined
}

interface LoggedNote {
  /** Grows with each note of the journal. */
  readonly nth: number
  readonly note: IdentifiedNote
}

interface NotesPartSources {
  readonly onNote: Notes['onNote']
  /** Passes on every entry that is recorded or read back here. */
  readonly follow: (listener: (entry: Entry) => void) => void
  /** Takes a note of another replica. */
  readonly hear: (note: IdentifiedNote) => void
  /** Asks for an exchange soon. */
  readonly soon: () => void
}

const NOTES_LOG = 'notes'

type NotesPart = ReturnType<typeof createNotesPart>

/** The journal of the fleet: the newest notes of all replicas, in one order. */
export function createNotesPart({ onNote, follow, hear, soon }: NotesPartSources) {
  const listeners: ((logged: LoggedNote) => void)[] = []
  const own = createOwnLog(NOTES_LOG, KEPT_NOTES)
  const known = createKnownIds(4 * KEPT_NOTES)
  follow((entry) => {
    if (entry.kind === 'note' && entry.id !== undefined) known.add(entry.id)
  })
  onNote((note) => {
    own.add(textOfNote(note))
    soon()
  })
  const logged = createKnownIds(4 * KEPT_NOTES)
  const take = ({ nth, text }: LogItem) => {
    const note = noteIn(text)
    // What a store lost is told again, under another number.
    if (!note || !logged.add(note.id)) return
    if (known.add(note.id)) hear(note)
    for (const listener of listeners) listener({ nth, note })
  }
  const log = reading('log', NOTES_LOG, (items) => items.forEach(take))
  return {
    changes: own.changes,
    readings: (): readonly FleetReading[] => [log],
    lost: own.lost,
    /** Passes on every note of the journal once, in its order. */
    onLogged: (listener: (logged: LoggedNote) => void): void => void listeners.push(listener),
  }
}

/** Takes a note that somebody is to hear of outside of the fleet. `ended` is called when that has ended, well or not. */
type ReportNote = (note: IdentifiedNote, ended: () => void) => void

interface NotesReportedSources {
  readonly fleet: Pick<Fleet, 'state' | 'soon'>
  readonly leader: Pick<Leader, 'isSelf'>
  readonly notes: Pick<NotesPart, 'onLogged'>
  readonly onNote: Notes['onNote']
  readonly clocks: Pick<FleetClocks, 'ticks' | 'now'>
}

/** Milliseconds without an answer of the store after which each replica tells of its own notes. */
const ALONE_MS = 5000

/** Milliseconds before the start of this process: older notes are not told of if nobody ever told of one. */
const RECENT_MS = 60_000

const NOTES_REPORTED = 'notified'

/** Lets one replica tell of the notes of all, each at least once. */
export function createNotesReported({ fleet, leader, notes, onNote, clocks }: NotesReportedSources) {
  const { ticks, now } = clocks
  const since = now() - RECENT_MS
  const listeners: ReportNote[] = []
  const logged: LoggedNote[] = []
  /** Own notes that the journal of the fleet does not have yet. */
  const unlogged = new Map<string, IdentifiedNote>()
  const told = createKnownIds(4 * KEPT_NOTES)
  /** The number of the newest note of which the fleet has told, as the store knows it and as this replica does. */
  let known: number | undefined
  let ended = 0
  let handed = 0
  const tell = (note: IdentifiedNote, end: () => void) => {
    if (!told.add(note.id)) return end()
    for (const listener of listeners) listener(note, end)
  }
  const cursor = reading('sums', NOTES_REPORTED, ({ nth }) => {
    known = Math.max(nth ?? 0, known ?? 0)
  })
  const isToBeReported = ({ nth, note }: LoggedNote) => nth > handed && nth > (known ?? 0) && (known || Date.parse(note.at) >= since)
  const tellLogged = () => {
    if (listeners.length === 0 || known === undefined || !leader.isSelf()) return
    for (const one of logged.filter(isToBeReported)) {
      handed = one.nth
      tell(one.note, () => {
        ended = Math.max(ended, one.nth)
        fleet.soon()
      })
    }
  }
  notes.onLogged((one) => {
    unlogged.delete(one.note.id)
    logged.push(one)
    if (logged.length > KEPT_NOTES) logged.shift()
    queueMicrotask(tellLogged)
  })
  onNote((note) => {
    unlogged.set(note.id, note)
    if (unlogged.size > KEPT_NOTES) unlogged.delete(unlogged.keys().next().value ?? '')
  })
  return {
    changes(): readonly StoreChange[] {
      if (ended <= (known ?? 0)) return []
      known = ended
      return [{ kind: 'most', name: NOTES_REPORTED, sums: { nth: ended } }]
    },
    readings: (): readonly FleetReading[] => [cursor],
    /** Passes on the notes of which this replica is to tell. */
    onTell: (listener: ReportNote): void => void listeners.push(listener),
    /** Looks whether there are some. Call it every second. */
    look() {
      tellLogged()
      const { downSince = Number.POSITIVE_INFINITY } = fleet.state()
      if (ticks() - downSince >= ALONE_MS) for (const note of unlogged.values()) tell(note, () => {})
    },
  }
}
