import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe } from 'vitest'
import { openStore } from '../../src/fleet/store/open.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import { hasRedis, startRedis, type TestRedis } from '../stage/redis.ts'
import { keepsTheContract } from '../store/contract.ts'

describe.runIf(hasRedis())('a store in Redis', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  const opened: Store[] = []
  afterAll(async () => {
    for (const store of opened) await store.close()
    await redis.stop()
  })
  keepsTheContract({
    async open() {
      const store = await openStore(redis.url, 'contract')
      opened.push(store)
      return store
    },
    // The time of Redis cannot be set: it has to pass.
    pass: (ms) => delay(ms),
  })
})
