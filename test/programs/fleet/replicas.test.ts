import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { openStore } from '../../../src/fleet/store/open.ts'
import { type Compared, countSlowly, evidenceIn, evidenceReplica, kindsSlowly, sortedKinds } from '../../fleet/evidence-replica.ts'
import { seeded, startOwnTime, until } from '../../stage/clocks.ts'
import { temporaryFolder } from '../../stage/programs.ts'
import { hasRedis, type RedisReplica, startRedis, startRedisReplica } from '../../stage/stores.ts'

const SEED = Number(process.env['CROSSWALK_SEED'] ?? 18)
const OPERATION = 'iam.groups.list'

describe.runIf(hasRedis())(`three replicas that count in a Redis (seed ${SEED})`, async () => {
  const redis = await startRedis()
  const store = await openStore(redis.url, 'evidence')
  afterAll(async () => {
    await store.close()
    await redis.stop()
  })

  it('have the counts of one process that has served all requests', async () => {
    const random = seeded(SEED)
    const clock = { now: Date.UTC(2026, 0, 2) }
    const replicas = ['a', 'b', 'c'].map((id) => evidenceReplica(id, store, () => clock.now))
    const all: Compared[] = []
    for (let nth = 0; nth < 300; nth++) {
      const replica = replicas[Math.floor(random() * 3)]
      for (let more = Math.floor(random() * 5); more >= 0; more--) {
        clock.now += Math.floor(random() * 60_000)
        const outcome = random() < 0.2 ? 'mismatch' : random() < 0.2 ? 'race' : 'match'
        const one = {
          operation: OPERATION,
          caller: `${Math.floor(random() * 3)}`,
          shape: `${Math.floor(random() * 2)}`,
          outcome,
        } as const
        all.push({ ...one, at: clock.now, isTally: !replica?.compared(one) })
      }
      await replica?.exchange(Math.floor(random() * 2))
    }
    const known = await evidenceIn(store, clock.now)
    expect(known).toMatchObject([{ operation: OPERATION, ...countSlowly(all) }])
    expect(sortedKinds(known[0])).toEqual(kindsSlowly(all))
  })
})

/** Returns a value below which this share of the numbers are. */
const quantile = (numbers: readonly number[], share: number) =>
  numbers.toSorted((a, b) => a - b)[Math.ceil(share * numbers.length) - 1] ?? 0
const versionOf = async (one: RedisReplica): Promise<number> => (await one.ask('/modes')).body.version
const put = (one: RedisReplica, mode: string, tag = '*', query = '') => one.ask(`/modes${query}`, { default: mode }, { 'if-match': tag })

describe.runIf(hasRedis())('three replicas and a Redis', async () => {
  const redis = await startRedis({ settings: { appendonly: 'yes', appendfsync: 'always' } })
  const directory = temporaryFolder('modes')
  const cache = join(directory.path, 'cache.json')
  const a = await startRedisReplica(redis.url, { 'store.cache': cache })
  const b = await startRedisReplica(redis.url)
  const c = await startRedisReplica(redis.url)
  const all = [a, b, c]
  const late: RedisReplica[] = []

  /** Resolves with the milliseconds of own time until all replicas have a version. */
  const inForce = async (version: number) => {
    const took = startOwnTime()
    await Promise.all(all.map(async (one) => void (await until(async () => (await versionOf(one)) >= version))))
    return took()
  }
  afterEach(async () => {
    redis.thaw()
    for (const one of late.splice(0)) await one.close()
    await until(async () => new Set(await Promise.all(all.map(async (one) => (await one.ask('/modes')).etag))).size === 1)
  })
  afterAll(async () => {
    for (const one of all) await one.close()
    await redis.stop()
    directory.remove()
  })

  it('obey 200 changes, each before its PUT is answered', async () => {
    const took: number[] = []
    const missing: unknown[] = []
    for (let nth = 0; nth < 200; nth += 1) {
      const began = performance.now()
      const { status, body } = await put(all[nth % 3] ?? a, nth % 2 === 0 ? 'v1' : 'diff-v1')
      took.push(performance.now() - began)
      expect(status).toBe(200)
      missing.push(...body.missing)
      expect(await Promise.all(all.map(versionOf))).toEqual([body.version, body.version, body.version])
    }
    const [half, most, max] = [quantile(took, 0.5), quantile(took, 0.99), Math.max(...took)].map((ms) => ms.toFixed(1))
    console.log(`200 PUTs, from sending one to its answer, when all three obey: p50 ${half} ms, p99 ${most} ms, max ${max} ms`)
    expect(missing).toEqual([])
  })

  it('obey within 1.5 s after their connections were cut', async () => {
    const took: number[] = []
    for (let nth = 0; nth < 15; nth += 1) {
      await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      const own = startOwnTime()
      // One connection carries news and questions: a change is refused until it is there again.
      const { body } = await until(async () => {
        const answer = await put(all[nth % 3] ?? a, nth % 2 === 0 ? 'v1' : 'diff-v1')
        return answer.status === 200 && answer
      })
      await inForce(body.version)
      took.push(own())
    }
    console.log(`15 PUTs after connections were cut: p50 ${quantile(took, 0.5).toFixed(0)} ms, max ${Math.max(...took).toFixed(0)} ms`)
    expect(Math.max(...took)).toBeLessThan(1500)
  })

  it('obey within 1.5 s if every message is lost', async () => {
    const deaf = await startRedisReplica(redis.url, {}, { isDeaf: true })
    late.push(deaf)
    const took: number[] = []
    for (let nth = 0; nth < 15; nth += 1) {
      const own = startOwnTime()
      const { body } = await put(a, nth % 2 === 0 ? 'v1' : 'diff-v1')
      await until(async () => (await versionOf(deaf)) === body.version)
      took.push(own())
      await delay(50 * nth)
    }
    console.log(`15 PUTs with every message lost: p50 ${quantile(took, 0.5).toFixed(0)} ms, max ${Math.max(...took).toFixed(0)} ms`)
    expect(Math.max(...took)).toBeLessThan(1500)
  })

  it('let one of 40 requests with one etag win', async () => {
    const { etag, body } = await a.ask('/modes')
    const ends = await Promise.all(Array.from({ length: 40 }, (_, at) => put(all[at % 3] ?? a, at % 2 === 0 ? 'v1' : 'diff-v1', etag)))
    expect(ends.map(({ status }) => status).sort()).toEqual([200, ...Array(39).fill(412)])
    expect(await versionOf(b)).toBe(body.version + 1)
  })

  it.each(['frozen', 'dead'] as const)('refuse a change within 300 ms while the store is %s, and catch up within 2 s', async (how) => {
    const before = await versionOf(a)
    if (how === 'frozen') redis.freeze()
    else await redis.kill()
    const took: number[] = []
    for (let nth = 0; nth < 10; nth += 1) {
      const own = startOwnTime()
      const { status, body } = await put(a, 'v2')
      took.push(own())
      expect([status, body.message]).toEqual([503, expect.stringContaining('scope=replica')])
    }
    console.log(`10 PUTs while the store is ${how}: max ${Math.max(...took).toFixed(0)} ms`)
    expect(Math.max(...took)).toBeLessThan(300)
    expect(await versionOf(a)).toBe(before)
    await put(b, 'diff-v2', '*', '?scope=replica')
    await delay(1000)
    if (how === 'frozen') redis.thaw()
    else await redis.start()
    const caught = await inForce(before + 1)
    console.log(`caught up ${caught.toFixed(0)} ms after the store was back`)
    expect(caught).toBeLessThan(2000)
    expect((await c.ask('/modes')).body.default).toBe('diff-v2')
  })

  it('give the newest modes back to a store that lost everything', async () => {
    const { body } = await put(a, 'v1')
    await redis.command('FLUSHALL')
    await until(async () => (await redis.command('KEYS', '*')).includes('modes'))
    const fresh = await startRedisReplica(redis.url)
    late.push(fresh)
    expect((await fresh.ask('/modes')).body).toMatchObject({ default: 'v1', version: body.version })
  })

  it('start without the store from the cache, or are not ready', async () => {
    const { body } = await put(a, 'v1')
    redis.freeze()
    const [kept, bare] = await Promise.all([startRedisReplica(redis.url, { 'store.cache': cache }), startRedisReplica(redis.url)])
    late.push(kept, bare)
    expect((await kept.ask('/modes')).body).toMatchObject({ default: 'v1', version: body.version })
    expect(kept.log.map(({ msg }) => msg)).toContainEqual(expect.stringContaining('the last known modes are active'))
    expect(await bare.ask('/readyz')).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining('does not know the modes') },
    })
    const { status } = await fetch(`${bare.url}/iam/v1/roles`)
    expect(status).toBe(503)
    redis.thaw()
    await until(async () => (await versionOf(bare)) === body.version)
    expect((await bare.ask('/readyz')).body.message).not.toContain('does not know the modes')
  })
})
