import { randomUUID } from 'node:crypto'
import type { Note } from '../diff/records/record.ts'
import type { Recorder } from '../diff/records/recorder.ts'
import type { SaveOrder } from './save-order.ts'

/** A note without what is added to all. */
type NewNote = Omit<Note, 'kind' | 'at' | 'id' | 'nth' | 'replica'>

/** A note with its id, which the record file and the notifications share. */
export type IdentifiedNote = Note & { readonly id: string }

/** The one stream of events: the record file, log lines, metrics and notifications follow from it. */
export interface Notes {
  /** Records that something happened, and tells the listeners. */
  note(note: NewNote): void
  /** Passes every note on to a listener when it is made, but none that `restore` reads back. */
  onNote(listener: (note: IdentifiedNote) => void): void
}

export interface NotesSources {
  readonly recorder: Pick<Recorder, 'record'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly order: Pick<SaveOrder, 'next'>
  /** The name of this process among those of its fleet; undefined without a store. */
  readonly replica?: string | undefined
}

export function createNotes({ recorder, now, order, replica }: NotesSources): Notes {
  const told = replica === undefined ? {} : { replica }
  const listeners: ((note: IdentifiedNote) => void)[] = []
  const untold: IdentifiedNote[] = []
  let isTelling = false
  const tell = () => {
    isTelling = true
    try {
      for (let note = untold.shift(); note; note = untold.shift()) for (const listener of listeners) listener(note)
    } finally {
      isTelling = false
    }
  }
  return {
    note(made) {
      const note: IdentifiedNote = { kind: 'note', id: randomUUID(), at: new Date(now()).toISOString(), ...made, ...told }
      recorder.record({ ...note, nth: order.next() })
      untold.push(note)
      // A listener may make a note of its own. The others must hear the cause first.
      if (!isTelling) tell()
    },
    onNote: (listener) => void listeners.push(listener),
  }
}
