import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { EpochView } from '../migrate/evidence/cutover.ts'
import type { Notes } from '../migrate/modes/journal.ts'
import { actorSchema } from '../migrate/records/read-entry.ts'
import type { Actor } from '../migrate/records/record.ts'
import { type EpochOrigin, epochHash } from '../migrate/records/record-file.ts'
import { type EvidenceNames, evidenceNames } from './evidence.ts'
import { type FleetReading, reading, readText } from './exchange.ts'
import { type Document, type Store, type StoreChange, StoreDown } from './store/store.ts'

interface EpochSources extends EpochOrigin {
  readonly store: Pick<Store, 'replace'>
  readonly note: Notes['note']
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** True if the records of this replica tell of observations, which a store that is not new should know. */
  readonly hasEarlier: () => boolean
  /** Reports a defect of Crosswalk. */
  readonly failed: (error: unknown) => void
}

/** The name of the document: its version is the number of epochs that persons have begun. */
const NAME = 'epoch'

export type Epochs = ReturnType<typeof createEpochs>

/** Knows the epoch to which evidence belongs, and begins another. */
export function createEpochs({ store, tables, build, note, now, hasEarlier, failed }: EpochSources) {
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
  const current = reading('document', NAME, take)
  const knowsMore = () => held < known.version || hasEarlier()
  const marker = createMarker({ store, note, now, hasEarlier: knowsMore, failed, nth: () => known.version })
  const view = (): EpochView => ({ nth: known.version, tables, ...(build !== undefined && { build }), ...begunIn(known.text) })
  return {
    names: (): EvidenceNames => names,
    now: view,
    /** The document of the epoch; undefined before the first that a person began. */
    document: (): Document | undefined => (known.version > 0 ? known : undefined),
    /** Takes what the store holds, or held when it last answered. */
    take,
    /** Is called when another epoch has begun, here or elsewhere. */
    onBegin: (listener: () => void): void => void listeners.push(listener),
    /** Begins another epoch, and notes that, unless somebody has just done so. Rejects as `Store.replace` does. */
    async begin(by: Actor): Promise<EpochView> {
      const begun = await store.replace(NAME, known.version, JSON.stringify({ at: new Date(now()).toISOString(), by }))
      take(begun.document)
      if (begun.isReplaced) note({ what: 'epoch', text: `epoch ${known.version} begins: what was seen before proves nothing any more`, by })
      return view()
    },
    // A store that has lost an epoch must not go back to an older one.
    changes: (): readonly StoreChange[] => (held < known.version ? [{ kind: 'raise', name: NAME, ...known }] : []),
    readings: (): readonly FleetReading[] => [current, marker.reading],
    /** The store came back older, without observations of this epoch that nobody can tell it again. */
    miss: marker.miss,
    /** Says in a sentence that the store lost what it knew of this epoch; undefined if it did not. */
    lost: marker.lost,
  }
}

const markSchema = z.object({
  /** Tells this store from one that came back empty. */
  id: z.string(),
  /** The epoch of which something is lost, and since when (RFC 3339). */
  lost: z.object({ epoch: z.number(), at: z.string() }).optional(),
})

type Mark = z.infer<typeof markSchema>

/** Marks the store, so that a replica learns if the store has come back without what it knew. `nth` is the number of the epoch. */
function createMarker(sources: Omit<EpochSources, keyof EpochOrigin> & { readonly nth: () => number }) {
  const { store, note, now, hasEarlier, failed, nth } = sources
  let known: Mark | undefined
  let held = 0
  const put = async (version: number, mark: Mark) => {
    const { isReplaced, document } = await store.replace(MARK, version, JSON.stringify(mark))
    // Of the replicas that find it, the one whose word the store takes notes it.
    if (isReplaced && mark.lost) note({ what: 'store-lost', text: lostText(mark.lost.at) })
    take(document)
  }
  const lostNow = () => ({ epoch: nth(), at: new Date(now()).toISOString() })
  const take = ({ version, text }: Document) => {
    held = version
    const found = readText(markSchema, text)
    const isLost = known ? found?.id !== known.id : !found && hasEarlier()
    if (isLost && !found?.lost) put(version, { id: found?.id ?? randomUUID(), lost: lostNow() }).catch(unanswered)
    else if (!found) put(version, { id: randomUUID() }).catch(unanswered)
    else known = found
  }
  // A store that does not answer is asked again: nothing is known yet.
  const unanswered = (error: unknown) => {
    if (!(error instanceof StoreDown)) failed(error)
    document = reading('document', MARK, take)
  }
  let document = reading('document', MARK, take)
  return {
    get reading() {
      return document
    },
    miss() {
      if (known && known.lost?.epoch !== nth()) put(held, { id: known.id, lost: lostNow() }).catch(unanswered)
    },
    lost: (): string | undefined => (known?.lost?.epoch === nth() ? lostText(known.lost.at) : undefined),
  }
}

const MARK = 'mark'

function lostText(at: string): string {
  return `The store lost what it knew of this epoch before ${at}: older observations are gone, wrong ones among them; begin a new epoch.`
}

const begunSchema = z.object({ at: z.string(), by: actorSchema })

function begunIn(text: string): Pick<EpochView, 'at' | 'by'> {
  return readText(begunSchema, text) ?? {}
}
