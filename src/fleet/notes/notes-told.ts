import type { IdentifiedNote, Notes } from '../../migrate/modes/journal.ts'
import type { Fleet } from '../fleet.ts'
import type { FleetClocks } from '../fleet-clocks.ts'
import type { Leader } from '../leader.ts'
import { type Part, reading } from '../part.ts'
import { KEPT_NOTES, type LoggedNote, type NotesPart } from './notes-part.ts'

/** Takes a note that somebody is to hear of outside of the fleet. `ended` is called when that has ended, well or not. */
export type TellNote = (note: IdentifiedNote, ended: () => void) => void

/** Lets one replica tell of the notes of all, each at least once. */
export interface NotesTold extends Part {
  /** Passes on the notes of which this replica is to tell. */
  onTell(listener: TellNote): void
  /** Looks whether there are some. Call it every second. */
  look(): void
}

interface NotesToldSources {
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

const NAME = 'notified'

export function createNotesTold({ fleet, leader, notes, onNote, clocks }: NotesToldSources): NotesTold {
  const { ticks, now } = clocks
  const since = now() - RECENT_MS
  const listeners: TellNote[] = []
  const logged: LoggedNote[] = []
  /** Own notes that the journal of the fleet does not have yet. */
  const unlogged = new Map<string, IdentifiedNote>()
  const told = new Set<string>()
  /** The number of the newest note of which the fleet has told, as the store knows it and as this replica does. */
  let known: number | undefined
  let ended = 0
  let handed = 0
  const tell = (note: IdentifiedNote, end: () => void) => {
    if (told.has(note.id)) return end()
    told.add(note.id)
    if (told.size > 4 * KEPT_NOTES) told.delete(told.values().next().value ?? '')
    for (const listener of listeners) listener(note, end)
  }
  const cursor = reading('sums', NAME, ({ nth }) => {
    known = Math.max(nth ?? 0, known ?? 0)
  })
  const isToBeTold = ({ nth, note }: LoggedNote) => nth > handed && nth > (known ?? 0) && (known || Date.parse(note.at) >= since)
  const tellLogged = () => {
    if (listeners.length === 0 || known === undefined || !leader.isSelf()) return
    for (const one of logged.filter(isToBeTold)) {
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
    changes() {
      if (ended <= (known ?? 0)) return []
      known = ended
      return [{ kind: 'most', name: NAME, sums: { nth: ended } }]
    },
    readings: () => [cursor],
    onTell: (listener) => void listeners.push(listener),
    look() {
      tellLogged()
      const { downSince = Number.POSITIVE_INFINITY } = fleet.state()
      if (ticks() - downSince >= ALONE_MS) for (const note of unlogged.values()) tell(note, () => {})
    },
  }
}
