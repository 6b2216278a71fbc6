import type { Store } from '../store.ts'

/** A store that several replicas of one machine use over one connection. */
export interface SplitStore {
  /** Opens it for one more replica. Closing that ends its news; the connection stays. */
  open(): Store
  /** Closes the connection. */
  close(): Promise<void>
}

/** Tells each replica of the machine the news of the others too, which the store cannot tell apart from its own. */
export function splitStore(whole: Store): SplitStore {
  const listeners = new Map<Store, (() => void)[]>()
  const tellBut = (one?: Store) => {
    for (const listener of [...listeners].flatMap(([other, called]) => (other === one ? [] : called))) queueMicrotask(listener)
  }
  whole.onNews(() => tellBut())
  return {
    open() {
      const store: Store = {
        async exchange(batch) {
          const found = await whole.exchange(batch)
          if (batch.isUrgent) tellBut(store)
          return found
        },
        read: whole.read,
        async replace(name, version, text) {
          const replaced = await whole.replace(name, version, text)
          if (replaced.isReplaced) tellBut(store)
          return replaced
        },
        onNews: (listener) => void listeners.get(store)?.push(listener),
        close: async () => void listeners.delete(store),
      }
      listeners.set(store, [])
      return store
    },
    close: whole.close,
  }
}
