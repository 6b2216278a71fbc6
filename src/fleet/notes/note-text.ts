import { z } from 'zod'
import type { IdentifiedNote } from '../../migrate/modes/journal.ts'
import type { Note } from '../../migrate/records/record.ts'

/** Characters of one text. Rules of modes may have any length, and every replica reads the whole journal at its start. */
const LONGEST = 4000

const cut = (text: string | undefined) => (text !== undefined && text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text)

/** Returns a note as the store keeps it. */
export function textOfNote({ nth: _, ...note }: IdentifiedNote): string {
  return JSON.stringify({ ...note, text: cut(note.text), from: cut(note.from), to: cut(note.to) })
}

/** Every kind of note. One that a later version of Crosswalk knows is left out. */
const WHATS: Readonly<Record<Note['what'], true>> = {
  ...{ modes: true, circuit: true, 'circuit-closed': true, restart: true },
  ...{ rollout: true, ready: true, 'not-ready': true, epoch: true, conflict: true },
}

const noteSchema = z.looseObject({
  kind: z.literal('note'),
  id: z.string().min(1),
  at: z.string().refine((at) => !Number.isNaN(Date.parse(at))),
  what: z.string().refine((what) => what in WHATS),
  text: z.string(),
})

/** Reads it. Undefined if another version of Crosswalk wrote it in another form. */
export function noteIn(text: string): IdentifiedNote | undefined {
  try {
    return noteSchema.safeParse(JSON.parse(text)).data as IdentifiedNote | undefined
  } catch {
    return undefined
  }
}
