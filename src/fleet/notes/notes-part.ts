import type { IdentifiedNote, Notes } from '../../migrate/modes/journal.ts'
import type { Entry } from '../../migrate/records/record.ts'
import type { LogItem } from '../../store/store.ts'
import { type Part, reading } from '../part.ts'
import { noteIn, textOfNote } from './note-text.ts'

/** The journal of the fleet: the newest notes of all replicas, in one order. */
export interface NotesPart extends Part {
  /** Passes on every note of the journal once, in its order. `isOwn` says that this replica noted it in this life. */
  onLogged(listener: (logged: LoggedNote) => void): void
}

export interface LoggedNote {
  /** Grows with each note of the journal. */
  readonly nth: number
  readonly note: IdentifiedNote
  readonly isOwn: boolean
}

interface NotesPartSources {
  /** This replica. */
  readonly id: string
  readonly onNote: Notes['onNote']
  /** Passes on every entry that is recorded or read back here. */
  readonly follow: (listener: (entry: Entry) => void) => void
  /** Takes a note of another replica. */
  readonly hear: (note: IdentifiedNote) => void
  /** Asks for an exchange soon. */
  readonly soon: () => void
}

/** Notes that the journal of the fleet keeps, and those of one replica that wait while the store does not answer. */
export const KEPT_NOTES = 1000

/** Own notes that are told again if the store loses them. */
const REPEATED = 100

const NAME = 'notes'

export function createNotesPart({ id, onNote, follow, hear, soon }: NotesPartSources): NotesPart {
  const listeners: ((logged: LoggedNote) => void)[] = []
  const waiting: IdentifiedNote[] = []
  const told: IdentifiedNote[] = []
  const known = new Set<string>()
  const know = (noteId: string) => {
    known.add(noteId)
    if (known.size > 4 * KEPT_NOTES) known.delete(known.values().next().value ?? '')
  }
  follow((entry) => {
    if (entry.kind === 'note' && entry.id !== undefined) know(entry.id)
  })
  onNote((note) => {
    waiting.push(note)
    if (waiting.length > KEPT_NOTES) waiting.shift()
    soon()
  })
  let lastNth = 0
  const take = ({ nth, replica, text }: LogItem) => {
    const note = noteIn(text)
    if (!note || nth <= lastNth) return
    lastNth = nth
    if (!known.has(note.id)) hear(note)
    for (const listener of listeners) listener({ nth, note, isOwn: replica === id })
  }
  const log = reading('log', NAME, (items) => items.forEach(take))
  return {
    changes() {
      const handed = waiting.splice(0)
      told.push(...handed)
      told.splice(0, told.length - REPEATED)
      return handed.map((note) => ({ kind: 'log', name: NAME, text: textOfNote(note), items: KEPT_NOTES }))
    },
    readings: () => [log],
    lost() {
      waiting.unshift(...told.splice(0))
    },
    onLogged: (listener) => void listeners.push(listener),
  }
}
