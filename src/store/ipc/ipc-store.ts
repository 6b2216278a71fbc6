import type { Replaced, Store, StoreFound } from '../store.ts'
import { StoreDown } from '../store-down.ts'
import { NEWS, STORE, type StoreAnswer, type StoreLine, type StoreQuestion } from './asked-store.ts'

/** The store as a worker has it: the process that supervises it holds the real one, and answers for it (`hostStore`). */
export function createIpcStore(line: StoreLine): Store {
  const listeners: (() => void)[] = []
  let isClosed = false
  line.on(NEWS, () => {
    if (!isClosed) for (const listener of listeners) listener()
  })
  const ask = async (question: StoreQuestion): Promise<readonly StoreFound[] | Replaced> => {
    if (isClosed) throw new StoreDown('the store is closed')
    const answer = (await line.ask(STORE, question).catch(({ message }: Error) => ({ down: message }))) as StoreAnswer
    if ('down' in answer) throw new StoreDown(answer.down, answer.foreignKey)
    return answer.got
  }
  return {
    exchange: (batch) => ask({ what: 'exchange', batch }) as Promise<readonly StoreFound[]>,
    read: (reads) => ask({ what: 'read', reads }) as Promise<readonly StoreFound[]>,
    replace: (name, version, text) => ask({ what: 'replace', name, version, text }) as Promise<Replaced>,
    onNews: (listener) => void listeners.push(listener),
    async close() {
      isClosed = true
    },
  }
}
