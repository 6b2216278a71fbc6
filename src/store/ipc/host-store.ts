import type { Replaced, Store, StoreFound } from '../store.ts'
import { StoreDown } from '../store-down.ts'
import { NEWS, STORE, type StoreAnswer, type StoreLine, type StoreQuestion } from './asked-store.ts'

/**
 * Lets the process at the other end of a line use a store. Close the store when that process has ended. The store was opened for that
 * process alone: news of the others then reach it.
 */
export function hostStore(store: Store, line: StoreLine): void {
  store.onNews(() => line.tell(NEWS))
  line.on(STORE, async (question): Promise<StoreAnswer> => {
    try {
      return { got: await answer(store, question as StoreQuestion) }
    } catch (error) {
      if (error instanceof StoreDown) return { down: error.message, foreignKey: error.foreignKey }
      throw error
    }
  })
}

function answer(store: Store, question: StoreQuestion): Promise<readonly StoreFound[] | Replaced> {
  if (question.what === 'exchange') return store.exchange(question.batch)
  if (question.what === 'read') return store.read(question.reads)
  return store.replace(question.name, question.version, question.text)
}
