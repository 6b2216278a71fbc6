import type { Redis } from 'ioredis'
import type { RedisAddress } from '../store-address.ts'
import { StoreDown } from '../store-down.ts'
import { ANSWER_MS, clientOptions } from './client-options.ts'
import { foreignKeyOf, refusalOf, unfitness } from './refusals.ts'

/** One connection, for commands and for news. It is made again whenever it is lost; nothing waits for it meanwhile. */
export interface RedisConnection {
  /** Runs a command. Rejects with a `StoreDown` at once if there is no connection, and after `withinMs` if there is no answer. */
  ask<T>(withinMs: number, command: (redis: Redis) => Promise<T>): Promise<T>
  close(): void
}

const SILENT = 'did not answer in time'

/** Connects, or gives up waiting after `ANSWER_MS`: the connection is then made in the background. */
export async function connectRedis(address: RedisAddress, channel: string, onMessage: (text: string) => void): Promise<RedisConnection> {
  const redis = new (await loadClient())(clientOptions(address))
  const secrets = [address.username, address.password].filter((secret) => secret !== undefined && secret !== '') as string[]
  const down = (what: string, foreignKey?: string) => new StoreDown(`the store at ${address.shown} ${what}`, foreignKey)
  /** Why the last connection ended. */
  let problem: string | undefined
  let isClosed = false
  let fit: Promise<void> | undefined
  redis.on('error', (error: unknown) => {
    problem = refusalOf(error, secrets)
  })
  redis.on('connect', () => {
    problem = undefined
    fit = undefined
  })
  redis.on('close', () => {
    problem ??= 'closed the connection'
  })
  redis.on('message', (_: string, text: string) => onMessage(text))
  const check = async () => {
    const unfit = unfitness(await redis.info())
    if (unfit !== undefined) throw down(unfit)
    // ioredis goes on with another database if it cannot select this one.
    if (address.database > 0) await redis.select(address.database)
    await redis.subscribe(channel)
  }
  /** Once for each connection, and again after it has failed. */
  const beFit = () => {
    fit ??= check().catch((error: unknown) => {
      fit = undefined
      throw error
    })
    return fit
  }
  const connection: RedisConnection = {
    async ask(withinMs, command) {
      if (isClosed) throw new StoreDown('the store is closed')
      if (redis.status !== 'ready') throw down(problem ?? SILENT)
      try {
        return await within(
          withinMs,
          () => down(`did not answer within ${withinMs} ms`),
          beFit().then(() => command(redis)),
        )
      } catch (error) {
        if (error instanceof StoreDown) throw error
        // The Sentinels may know another primary by now.
        if (/READONLY/.test(String(error))) redis.disconnect(true)
        throw down(redis.status === 'ready' ? refusalOf(error, secrets) : (problem ?? SILENT), foreignKeyOf(error))
      }
    },
    close() {
      isClosed = true
      redis.disconnect()
    },
  }
  await within(ANSWER_MS, () => down(SILENT), redis.connect().then(beFit)).catch(() => {})
  return connection
}

async function within<T>(ms: number, late: () => Error, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms)
  })
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}

/** ioredis is an optional package: it is loaded when a URL needs it. */
async function loadClient(): Promise<typeof Redis> {
  try {
    return (await import('ioredis')).Redis
  } catch (error) {
    throw new Error('store.url names a Redis, which needs the package ioredis: npm install ioredis', { cause: error })
  }
}
