import net from 'node:net'
import { afterEach, expect } from 'vitest'
import { openStore } from '../../../src/fleet/store/open.ts'
import type { Batch, Store } from '../../../src/fleet/store/store.ts'
import { startOwnTime, until } from '../../stage/clocks.ts'
import { listening } from '../../stage/programs.ts'
import { startRedis, type TestRedis } from '../../stage/stores.ts'

/** What a test has opened. It is closed when the test ends. */
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

/** Opens the store of a test. */
export async function open(url: string): Promise<Store> {
  const store = await openStore(url, 'failures')
  opened.push(store)
  return store
}

/** Starts a Redis of a test. */
export async function start(options?: Parameters<typeof startRedis>[0]): Promise<TestRedis> {
  const redis = await startRedis(options)
  opened.push({ close: () => redis.stop() })
  return redis
}

/** Listens on a port that answers as told. */
export async function listen(answer: (socket: net.Socket) => unknown): Promise<number> {
  const server = net.createServer((socket) => answer(socket.on('error', () => {}).resume()))
  const { port } = await listening(server)
  opened.push({ close: () => new Promise((resolve) => server.close(() => resolve())) })
  return port
}

let batches = 0

/** The next batch of a replica: it adds 1 to a sum, and reads it. */
export const adding = (name: string): Batch => ({
  replica: 'one',
  nth: ++batches,
  changes: [{ kind: 'add', name, sums: { n: 1 } }],
  reads: [{ kind: 'sums', name }],
  isUrgent: false,
})

/** What a promise was rejected with, and after how many milliseconds of this process's own time. */
export async function refusal(promise: Promise<unknown>): Promise<{ readonly sentence: string; readonly ms: number }> {
  const took = startOwnTime()
  const error = await promise.then(
    () => new Error('it was not refused'),
    (thrown: Error) => thrown,
  )
  const ms = took()
  expect(error.name).toBe('StoreDown')
  return { sentence: error.message, ms }
}

/** Resolves with the milliseconds of own time until the store takes a batch again. */
export async function back(store: Store, batch: Batch): Promise<number> {
  const took = startOwnTime()
  await until(async () => {
    await store.exchange(batch)
    return true
  })
  return took()
}
