import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createLine } from '../../src/app/server/line.ts'
import { createIpcStore, hostStore, splitStore } from '../../src/fleet/store/ipc.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { type Store, StoreDown } from '../../src/fleet/store/store.ts'
import { keepsTheContract } from './contract.ts'

/** Two ends of a channel between processes, which copies what it carries. */
function channel() {
  const [worker, supervisor] = [new EventEmitter(), new EventEmitter()]
  const to = (end: EventEmitter) => (message: unknown) => {
    const copy = structuredClone(message)
    setImmediate(() => end.emit('message', copy))
  }
  return { worker: Object.assign(worker, { send: to(supervisor) }), supervisor: Object.assign(supervisor, { send: to(worker) }) }
}

/** A store as a worker sees it, through its supervisor. */
function throughLine(store: Store) {
  const { worker, supervisor } = channel()
  hostStore(store, createLine(supervisor))
  const line = createLine(worker)
  return { store: createIpcStore(line), line }
}

describe('a store of the supervisor, as its workers see it', () => {
  let now = 1_790_000_000_000
  const split = splitStore(createMemory(() => now).open())
  keepsTheContract({
    open: async () => throughLine(split.open()).store,
    async pass(ms) {
      now += ms
    },
  })
})

const QUESTION = { replica: 'a', nth: 1, changes: [], reads: [], isUrgent: false }

/** A question with changes that no worker makes. */
function exchange(...changes: readonly unknown[]) {
  return { what: 'exchange', batch: { ...QUESTION, changes } }
}

it('tells a worker why the store is down', async () => {
  const frozen: Store = { ...createMemory(() => 0).open(), exchange: () => Promise.reject(new StoreDown('redis does not answer')) }
  await expect(throughLine(frozen).store.exchange(QUESTION)).rejects.toThrow(new StoreDown('redis does not answer'))
})

it.each([
  ['nothing', undefined],
  ['another question', { what: 'forget', name: 'modes' }],
  ['a document without a text', { what: 'replace', name: 'modes', version: 0, text: { rules: [] } }],
  ['a document of no version', { what: 'replace', name: 'modes', version: Number.NaN, text: '' }],
  ['reads that are no list', { what: 'read', reads: { length: 1 } }],
  ['a read of another kind', { what: 'read', reads: [{ kind: 'constructor', name: 'a' }] }],
  ['a sum that is no number', exchange({ kind: 'add', name: 'a', sums: { n: 'one' } })],
  ['a change of another kind', exchange({ kind: '__proto__', name: 'a' })],
  ['100,000 changes that are none', exchange(...Array.from({ length: 100_000 }, () => null))],
])('refuses of a worker: %s', async (_, question) => {
  const memory = createMemory(() => 0).open()
  const { line } = throughLine(memory)
  expect(await line.ask('store', question)).toEqual({ down: 'the worker asked the store for what nobody understands' })
  const places = [{ kind: 'sums', name: 'a' } as const, { kind: 'document', name: 'modes' } as const]
  expect((await memory.read(places)).map((found) => found?.value)).toEqual([{}, { version: 0, text: '' }])
})

it('is down for a worker whose supervisor is gone', async () => {
  const { store, line } = throughLine(createMemory(() => 0).open())
  line.end()
  await expect(store.read([])).rejects.toThrow(StoreDown)
})
