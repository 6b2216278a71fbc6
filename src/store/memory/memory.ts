import type { Batch, Replaced, Store } from '../store.ts'
import { StoreDown } from '../store-down.ts'
import { applyChange, raiseDocument } from './apply-change.ts'
import { find, renew } from './find.ts'
import { createShelves, type Shelves } from './shelves.ts'

/** What replicas of one process share. */
export interface Memory {
  /** A store of one replica. Each tells the listeners of the others what is urgent. */
  open(): Store
}

/** Milliseconds after which the number of a replica's last batch is forgotten. */
export const BATCH_KEPT_MS = 24 * 3_600_000

/** `createMemory(Date.now).open()`: a store that ends with its process. `now` gives milliseconds since 1970. */
export function createMemory(now: () => number, shelves: Shelves = createShelves(now)): Memory {
  const listeners = new Map<Store, (() => void)[]>()
  const apply = ({ replica, nth, changes }: Batch) => {
    if (nth <= (shelves.batches.get(replica) ?? 0)) return
    const applying = { shelves, replica, now: now() }
    shelves.batches.set(replica, nth, applying.now + BATCH_KEPT_MS)
    for (const change of changes) applyChange(change, applying)
  }
  const replace = (name: string, version: number, text: string): Replaced => {
    const held = shelves.documents.get(name)?.value ?? { version: 0, text: '' }
    if (held.version !== version) return { isReplaced: false, document: held }
    raiseDocument(name, version + 1, text, { shelves, replica: '', now: now() })
    return { isReplaced: true, document: { version: version + 1, text } }
  }
  return {
    open() {
      const orClosed = () => {
        if (!listeners.has(store)) throw new StoreDown('the store is closed')
      }
      const tellOthers = () => {
        for (const listener of [...listeners].flatMap(([other, called]) => (other === store ? [] : called))) queueMicrotask(listener)
      }
      const store: Store = {
        async exchange(batch) {
          orClosed()
          apply(batch)
          for (const read of batch.reads) renew(read, shelves, now())
          if (batch.isUrgent) tellOthers()
          return batch.reads.map((read) => find(read, shelves, now()))
        },
        async read(reads) {
          orClosed()
          return reads.map((read) => find(read, shelves, now()))
        },
        async replace(name, version, text) {
          orClosed()
          const replaced = replace(name, version, text)
          if (replaced.isReplaced) tellOthers()
          return replaced
        },
        onNews: (listener) => void listeners.get(store)?.push(listener),
        close: async () => void listeners.delete(store),
      }
      listeners.set(store, [])
      return store
    },
  }
}
