import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Batch, Replaced, Store, StoreFound, StoreRead } from '../store.ts'
import type { RedisAddress } from '../store-address.ts'
import { StoreDown } from '../store-down.ts'
import { stepsOf } from './batch-steps.ts'
import { ANSWER_MS } from './client-options.ts'
import { connectRedis } from './connection.ts'
import { exchangeArguments, readingArguments } from './exchange-arguments.ts'
import { type FoundReply, readFound } from './read-found.ts'

/** Milliseconds for the answer to `replace`: a person waits for it. */
const REPLACE_MS = 250

type Scripts = Redis & {
  crosswalkExchange(root: string, ...texts: readonly (string | number)[]): Promise<[now: string, ...found: FoundReply[]]>
  crosswalkReplace(root: string, ...texts: readonly (string | number)[]): Promise<[result: string, version: string, text: string]>
}

/** A store in Redis. All its keys begin with `{crosswalk:NAME}:`, so that they share one slot, and several fleets one Redis. */
export async function openRedis(address: RedisAddress, name: string): Promise<Store> {
  const root = `{crosswalk:${name}}:`
  const me = randomUUID()
  const listeners: (() => void)[] = []
  const connection = await connectRedis(address, `${root}news`, (sender) => {
    if (sender !== me) for (const listener of listeners) listener()
  })
  /** What the clock of Redis shows more than the one here, in milliseconds. */
  let ahead: number | undefined
  const run = async (texts: readonly (string | number)[], reads: readonly StoreRead[]) => {
    const [now, ...found] = await connection.ask(ANSWER_MS, (redis) => (redis as Scripts).crosswalkExchange(root, ...texts))
    ahead = Number(now) / 1000 - performance.now()
    return reads.map((read, at) => readFound(read, found[at]))
  }
  return {
    async exchange(batch: Batch) {
      let found: readonly StoreFound[] = []
      for (const step of stepsOf(batch)) found = await run(exchangeArguments(step, step.isUrgent ? me : ''), step.reads)
      return found
    },
    read: async (reads) => (await Promise.all(reads.map((read) => run(readingArguments([read]), [read])))).flat(),
    async replace(document, version, text): Promise<Replaced> {
      const deadline = ahead === undefined ? '' : Math.round((performance.now() + ahead + REPLACE_MS) * 1000)
      const [result, held, inForce] = await connection.ask(REPLACE_MS, (redis) =>
        (redis as Scripts).crosswalkReplace(root, document, version, text, me, deadline),
      )
      if (result === 'late') throw new StoreDown(`the store at ${address.shown} did not answer within ${REPLACE_MS} ms`)
      return { isReplaced: result === 'replaced', document: { version: Number(held), text: inForce } }
    },
    onNews: (listener) => void listeners.push(listener),
    close: async () => connection.close(),
  }
}
