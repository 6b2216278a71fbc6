import type { Modes } from '../../migrate/modes/modes.ts'
import type { ModeRules } from '../../migrate/modes/rules.ts'
import type { Actor } from '../../migrate/records/record.ts'
import type { Document } from '../../store/store.ts'
import type { StoreChange } from '../../store/store-change.ts'
import { type Part, reading } from '../part.ts'
import { createFileWish, type Proposed } from './file-wish.ts'
import type { ModesConflict } from './modes-conflict.ts'
import { digestOf, MODES, modesText, readModesDocument, tagOf } from './modes-document.ts'
import type { UnreadModes } from './unread-modes.ts'

/**
 * Keeps the modes of this replica those of the store. Versions only go up: a store that lost the newest version gets it back from any
 * replica that knows it. Of two documents of one version, all replicas choose the same.
 */
export interface ModesPart extends Part {
  /** The newest document that this replica knows; version 0: none. */
  known(): Document
  /** The modes of the store, if this version of Crosswalk cannot read them. */
  unread(): UnreadModes | undefined
  /** The text of a document that follows the known one. This replica notes it once it is in force. */
  next(rules: ModeRules, by: Actor): string
  /** Takes what the store holds. */
  take(document: Document): void
  /** Puts a document in force that the store does not have yet, and proposes it as soon as the store answers. */
  force(document: Document): void
  /** Proposes the modes of the changed configuration file, unless another replica has proposed the same. */
  propose(rules: ModeRules, by: Actor): void
}

interface ModesPartSettings {
  readonly modes: Pick<Modes, 'adopt' | 'state'>
  /** What is proposed if the store has no modes. */
  readonly first: { readonly rules: ModeRules; readonly by: Actor }
  readonly now: () => number
  /** Another exchange is due at once: something is to be sent, or other modes are in force. */
  readonly wake: () => void
  readonly told: ModesTold
}

/** Is told what happens to the modes of this replica. */
export interface ModesTold {
  adopted(document: Document): void
  /** This version of Crosswalk cannot read the modes in the store. `isKnown`: earlier ones stay in force. */
  unreadable(unread: UnreadModes, isKnown: boolean): void
  /** The store and this replica had different modes of one version. */
  differed(conflict: ModesConflict): void
  /** What became of the modes that the configuration file proposed. */
  proposed(end: Proposed): void
}

export function createModesPart({ modes, first, now, wake, told }: ModesPartSettings): ModesPart {
  let known: Document = { version: 0, text: '' }
  let fileDigest: string | undefined
  /** The store has an older document, or none. */
  let raised: Document | undefined
  let isFirst = false
  const wish = createFileWish(told.proposed)
  let unread: UnreadModes | undefined
  const own = new Set<string>()

  const adopt = (document: Document) => {
    const read = readModesDocument(document)
    unread = 'problem' in read ? { ...document, ...read } : undefined
    if ('problem' in read) {
      told.unreadable({ ...document, ...read }, known.version > 0)
      return wish.missed({ ...document, ...read })
    }
    known = document
    fileDigest = read.file
    wish.adopted(fileDigest, known.version)
    modes.adopt(read.shared, own.has(document.text))
    own.clear()
    told.adopted(document)
    wake()
  }
  const next = (rules: ModeRules, by: Actor, file = fileDigest) => {
    const text = modesText({ rules, by, at: now() }, file)
    own.add(text)
    return text
  }
  const choose = (document: Document) => {
    const isLost = tagOf(document) > tagOf(known)
    told.differed({ own: known, stored: document, isLost })
    if (isLost) return adopt(document)
    raised = { version: known.version + 1, text: known.text }
    adopt(raised)
  }
  const take = (document: Document) => {
    isFirst = document.version === 0 && known.version === 0
    if (document.version > known.version) adopt(document)
    else if (document.version < known.version) raised = known
    else if (document.text !== known.text) choose(document)
    if (raised || isFirst) wake()
  }
  const proposal = (): Document | undefined => {
    if (raised) return raised
    if (isFirst) return { version: 1, text: modesText({ ...first, at: modes.state().at }, digestOf(first.rules)) }
    const wished = wish.current()
    if (!wished || known.version === 0) return undefined
    return { version: known.version + 1, text: next(wished.rules, wished.by, digestOf(wished.rules)) }
  }
  const documents = reading('document', MODES, take)
  return {
    changes(): readonly StoreChange[] {
      const proposed = proposal()
      raised = undefined
      isFirst = false
      return proposed ? [{ kind: 'raise', name: MODES, ...proposed }] : []
    },
    ...{ readings: () => [documents], known: () => known, unread: () => unread, next, take },
    force(document) {
      adopt(document)
      raised = document
    },
    propose(rules, by) {
      if (wish.make(rules, by, fileDigest, unread)) wake()
    },
  }
}
