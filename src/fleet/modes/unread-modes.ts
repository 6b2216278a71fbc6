import type { Document } from '../../store/store.ts'

/** Modes of the store that this version of Crosswalk cannot read, and a sentence that says why. */
export interface UnreadModes extends Document {
  readonly problem: string
}

/** Says what the store holds, and what to do. It completes "This replica does not know the modes: …". */
export function unreadText({ version, problem }: Pick<UnreadModes, 'version' | 'problem'>): string {
  const why = problem.replace(/\.$/, '')
  return `the store holds modes of version ${version} that another version of Crosswalk wrote, and this one cannot read them (${why}); run that version here too, or replace the modes with PUT /modes and If-Match: *`
}
