import { z } from 'zod'
import { type Batch, type Replaced, type Store, StoreDown, type StoreFound, type StoreRead } from './store.ts'

/** The way between a worker and the process that holds the store. It copies what it carries. */
interface StoreLine {
  /** Rejects if the other side cannot answer, or is gone. */
  ask(topic: string, value?: unknown): Promise<unknown>
  tell(topic: string, value?: unknown): void
  on(topic: string, listener: (value: unknown) => unknown): void
}

/** What a worker asks of the store. */
type StoreQuestion =
  | { readonly what: 'exchange'; readonly batch: Batch }
  | { readonly what: 'read'; readonly reads: readonly StoreRead[] }
  | { readonly what: 'replace'; readonly name: string; readonly version: number; readonly text: string }

/** What it gets, or why the store did not answer. */
type StoreAnswer = { readonly got: readonly StoreFound[] | Replaced } | { readonly down: string; readonly foreignKey?: string | undefined }

/** A schema of a list would find each of 100,000 faults. */
function listOf(schema: z.ZodType) {
  return z.custom((value) => Array.isArray(value) && value.every((one) => schema.safeParse(one).success))
}

const [text, number] = [z.string(), z.number()]
const sums = z.record(text, number)
const kept = { keepMs: number.optional() }

const change = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['add', 'most', 'least']), name: text, sums, ...kept }),
  z.object({ kind: z.literal('claim'), key: text, at: number, ms: number, name: text, first: sums, again: sums }),
  z.object({ kind: z.literal('join'), name: text, field: text, member: text, most: number }),
  z.object({ kind: z.literal('draw'), name: text, amount: number, most: number, ...kept }),
  z.object({ kind: z.enum(['write', 'mark']), name: text, field: text, text, ...kept }),
  z.object({ kind: z.literal('log'), name: text, text, items: number, ...kept }),
  z.object({ kind: z.literal('lease'), name: text, ms: number }),
  z.object({ kind: z.literal('raise'), name: text, version: number, text }),
  z.object({ kind: z.literal('beat'), text, ms: number }),
])

const kinds = z.enum(['sums', 'texts', 'log', 'document', 'lease', 'replicas'])
const reads = listOf(z.object({ kind: kinds, name: text, known: number.optional() }))

/** What a worker may ask. One that is broken must not write to the store what nobody can read. */
const questionSchema = z.discriminatedUnion('what', [
  z.object({
    what: z.literal('exchange'),
    batch: z.object({ replica: text, nth: number, changes: listOf(change), reads, isUrgent: z.boolean() }),
  }),
  z.object({ what: z.literal('read'), reads }),
  z.object({ what: z.literal('replace'), name: text, version: number, text }),
])

/** The topics of the line: questions of a worker, and hints that it should read. */
const STORE = 'store'
const NEWS = 'store news'

/**
 * Lets the process at the other end of a line use a store. Close the store when that process has ended. The store was opened for that
 * process alone: news of the others then reach it.
 */
export function hostStore(store: Store, line: StoreLine): void {
  store.onNews(() => line.tell(NEWS))
  line.on(STORE, async (question): Promise<StoreAnswer> => {
    if (!questionSchema.safeParse(question).success) return { down: 'the worker asked the store for what nobody understands' }
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
