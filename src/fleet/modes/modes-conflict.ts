import { describeRules } from '../../migrate/modes/rules.ts'
import { describeActor, type Note } from '../../migrate/records/record.ts'
import type { Document } from '../../store/store.ts'
import { readModesDocument } from './modes-document.ts'

/** Two modes of one version: a store that lost writes, or two sides of a partition, gave it twice. */
export interface ModesConflict {
  readonly own: Document
  readonly stored: Document
  /** Those of this replica lost. The others get a new version. */
  readonly isLost: boolean
}

/** Tells a conflict as a note. The subjects of clients are told only if they may be shown. */
export function conflictNote(
  { own, stored, isLost }: ModesConflict,
  subjects: boolean,
): Pick<Note, 'what' | 'text' | 'from' | 'to' | 'version'> {
  const [lost, won] = (isLost ? [own, stored] : [stored, own]).map((document) => describe(document, subjects)) as [Described, Described]
  const end = isLost ? 'those of the store win on all replicas' : `those of this replica win on all replicas, as version ${own.version + 1}`
  const text = `the store and this replica had different modes of version ${own.version}, ${end}: what was put by ${lost.by} is lost`
  return { what: 'conflict', text, from: lost.rules, to: won.rules, version: own.version }
}

interface Described {
  readonly by: string
  readonly rules: string
}

function describe(document: Document, subjects: boolean): Described {
  const read = readModesDocument(document)
  if ('problem' in read) return { by: 'another version of Crosswalk', rules: 'modes of another version of Crosswalk' }
  return { by: describeActor(read.shared.by), rules: describeRules(read.shared.rules, subjects) }
}
