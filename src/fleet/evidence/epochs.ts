import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { EpochView } from '../../migrate/evidence/cutover.ts'
import type { Notes } from '../../migrate/modes/journal.ts'
import type { Actor } from '../../migrate/records/record.ts'
import type { Document, Store } from '../../store/store.ts'
import { type Part, reading } from '../part.ts'
import { type EvidenceNames, evidenceNames } from './evidence-names.ts'

/** Knows the epoch to which evidence belongs, and begins another. */
export interface Epochs extends Part {
  now(): EpochView
  names(): EvidenceNames
  /** Is called when another epoch has begun, here or elsewhere. */
  onBegin(listener: () => void): void
  /** Begins another epoch, and notes that, unless somebody has just done so. Rejects as `Store.replace` does. */
  begin(by: Actor): Promise<EpochView>
}

/** What a replica counts: answers by these tables, of this v2. */
export interface EpochOrigin {
  /** Hash of the mapping tables. */
  readonly tables: string
  /** What the operator calls the v2 build. */
  readonly build?: string | undefined
}

interface EpochSources extends EpochOrigin {
  readonly store: Pick<Store, 'replace'>
  readonly note: Notes['note']
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The name of the document: its version is the number of epochs that persons have begun. */
const NAME = 'epoch'

export function epochHash({ tables, build = '' }: EpochOrigin): string {
  return createHash('sha256').update(`${tables}\n${build}`).digest('hex').slice(0, 12)
}

export function createEpochs({ store, tables, build, note, now }: EpochSources): Epochs {
  const hash = epochHash({ tables, build })
  const listeners: (() => void)[] = []
  let known: Document = { version: 0, text: '' }
  /** The version that the store has. */
  let held = 0
  let names = evidenceNames({ nth: 0, hash })
  const take = (document: Document) => {
    held = document.version
    if (document.version <= known.version) return
    known = document
    names = evidenceNames({ nth: known.version, hash })
    for (const listener of listeners) listener()
  }
  const document = reading('document', NAME, take)
  const view = (): EpochView => ({ nth: known.version, tables, ...(build !== undefined && { build }), ...begunIn(known.text) })
  return {
    names: () => names,
    now: view,
    onBegin: (listener) => void listeners.push(listener),
    async begin(by) {
      const begun = await store.replace(NAME, known.version, JSON.stringify({ at: new Date(now()).toISOString(), by }))
      take(begun.document)
      if (begun.isReplaced) note({ what: 'epoch', text: `epoch ${known.version} begins: what was seen before proves nothing any more`, by })
      return view()
    },
    // A store that has lost an epoch must not go back to an older one.
    changes: () => (held < known.version ? [{ kind: 'raise', name: NAME, ...known }] : []),
    readings: () => [document],
  }
}

const begunSchema = z.object({ at: z.string(), by: z.custom<Actor>((value) => typeof value === 'object' && value !== null) })

function begunIn(text: string): Pick<EpochView, 'at' | 'by'> {
  return text === '' ? {} : begunSchema.parse(JSON.parse(text))
}
