import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/fleet/store/open.ts'
import type { Batch, Store } from '../../src/fleet/store/store.ts'
import { hasRedis, startRedis, type TestRedis } from '../stage/redis.ts'
import { until } from '../stage/until.ts'

const PASSWORD = 'some-password'
const cli = ['-a', PASSWORD, '--no-auth-warning']
const auth = { requirepass: PASSWORD, masterauth: PASSWORD }

/** The settings of a Sentinel that watches a primary. */
const watching = (port: number) => [
  `sentinel monitor main 127.0.0.1 ${port} 1`,
  `sentinel auth-pass main ${PASSWORD}`,
  'sentinel down-after-milliseconds main 500',
  'sentinel failover-timeout main 3000',
  `requirepass ${PASSWORD}`,
]

describe.runIf(hasRedis())('a Redis behind Sentinels', () => {
  let first: TestRedis
  let second: TestRedis
  let sentinel: TestRedis
  let url: string
  let store: Store
  beforeAll(async () => {
    first = await startRedis({ settings: auth, cli })
    second = await startRedis({ settings: { ...auth, replicaof: `127.0.0.1 ${first.port}` }, cli })
    await until(async () => (await second.command('INFO', 'replication')).includes('master_link_status:up'), 'the replica has all')
    sentinel = await startRedis({ cli, sentinel: watching(first.port) })
    await until(
      async () => (await sentinel.command('SENTINEL', 'replicas', 'main')).includes(String(second.port)),
      'the Sentinel knows both',
    )
    // A Sentinel that is not there is passed over.
    url = `redis+sentinel://:${PASSWORD}@127.0.0.1:1,127.0.0.1:${sentinel.port}/main`
    store = await openStore(url, 'sentinel')
  })
  afterAll(async () => {
    await store.close()
    for (const one of [sentinel, second, first]) await one.stop()
  })
  let nth = 0
  const adding = (): Batch => ({
    ...{ replica: 'a', nth: ++nth, isUrgent: true },
    changes: [{ kind: 'add', name: 'n', sums: { n: 1 } }],
    reads: [{ kind: 'sums', name: 'n' }],
  })
  /** Sends a batch until it is taken. */
  const send = (batch: Batch) => until(() => store.exchange(batch).catch(() => undefined), 'the store answers')

  it('follows the primary when it changes, and then writes to the new one', async () => {
    for (let time = 0; time < 10; time += 1) await store.exchange(adding())
    await first.command('WAIT', '1', '5000')
    first.freeze()
    const begun = performance.now()
    const frozen = await send(adding())
    console.log(`failed over in ${Math.round(performance.now() - begun)} ms`)
    expect(frozen[0]?.value).toEqual({ n: 11 })
    expect(await second.command('INFO', 'replication')).toContain('role:master')
    first.thaw()
    await until(async () => (await first.command('INFO', 'replication')).includes('role:slave'), 'the old primary follows the new one')
    expect((await send(adding()))[0]?.value).toEqual({ n: 12 })
  })

  it('says that no Sentinel answers, without the password', async () => {
    sentinel.freeze()
    const other = await openStore(url, 'sentinel')
    const refused = await other.exchange(adding()).catch((error: Error) => error)
    expect(refused).toMatchObject({ name: 'StoreDown', message: expect.stringContaining('/main ') })
    expect(String(refused)).not.toContain(PASSWORD)
    sentinel.thaw()
    await until(() => other.exchange(adding()).catch(() => undefined), 'the other store answers')
    await other.close()
  })
})
