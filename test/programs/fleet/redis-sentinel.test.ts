import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../../src/fleet/store/open.ts'
import type { Batch, Store } from '../../../src/fleet/store/store.ts'
import { until } from '../../stage/clocks.ts'
import { type Failover, hasRedis, startFailover } from '../../stage/stores.ts'
import { adding as addingTo, back, listen, open, refusal, start } from './failing-store.ts'

const PASSWORD = 'some-password'
const cli = ['-a', PASSWORD, '--no-auth-warning']

describe.runIf(hasRedis())('a Redis behind Sentinels', () => {
  let redis: Failover
  let store: Store
  beforeAll(async () => {
    redis = await startFailover(PASSWORD)
    store = await openStore(redis.url, 'sentinel')
  })
  afterAll(async () => {
    await store.close()
    await redis.stop()
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
    const { first, second } = redis
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
    redis.sentinel.freeze()
    const other = await openStore(redis.url, 'sentinel')
    const refused = await other.exchange(adding()).catch((error: Error) => error)
    expect(refused).toMatchObject({ name: 'StoreDown', message: expect.stringContaining('/main ') })
    expect(String(refused)).not.toContain(PASSWORD)
    redis.sentinel.thaw()
    await until(() => other.exchange(adding()).catch(() => undefined), 'the other store answers')
    await other.close()
  })
})

/** A Sentinel that answers as told. */
async function lyingSentinel(): Promise<{ readonly port: number; answer: string; readonly asked: string[] }> {
  const state = { port: 0, answer: '', asked: [] as string[] }
  state.port = await listen((socket) =>
    socket.on('data', (data) => {
      for (const [, words = ''] of String(data).matchAll(/\*\d+\r\n((?:\$\d+\r\n[^\r]*\r\n)+)/g)) {
        const said = words.split('\r\n').filter((_, at) => at % 2 === 1)
        state.asked.push(said.join(' ').toLowerCase())
        const isQuestion = said[0]?.toLowerCase() === 'sentinel'
        socket.write(
          isQuestion ? state.answer : said[0]?.toLowerCase() === 'hello' ? '-NOPROTO unsupported protocol version\r\n' : '+OK\r\n',
        )
      }
    }),
  )
  return state
}

const address = (host: string, port: string | number) => `*2\r\n$${host.length}\r\n${host}\r\n$${String(port).length}\r\n${port}\r\n`

const LIES: Readonly<Record<string, (sentinel: number) => string>> = {
  'an error': () => '-ERR no such master\r\n',
  'a number': () => ':5\r\n',
  nothing: () => '*-1\r\n',
  'an address of nothing': () => '*2\r\n$-1\r\n$-1\r\n',
  'lists in a list': () => '*2\r\n*1\r\n:1\r\n*1\r\n:1\r\n',
  'a port of letters': () => address('127.0.0.1', 'abc'),
  'a port that is too high': () => address('127.0.0.1', 99_999),
  'a negative port': () => address('127.0.0.1', -1),
  'a port where nothing listens': () => address('127.0.0.1', 1),
  'a host of odd letters': () => address('a b/\u0001', 6379),
  'itself as the primary': (sentinel) => address('127.0.0.1', sentinel),
  'what is no answer of Redis': () => 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
  'an answer that never ends': () => `$1000000000\r\n${'x'.repeat(2 ** 20)}`,
}

describe.runIf(hasRedis())('a Sentinel that lies', () => {
  it.each(Object.entries(LIES))('by %s is told without the password, and followed once it tells the truth', async (_, lie) => {
    const redis = await start({ settings: { requirepass: PASSWORD }, cli })
    const sentinel = await lyingSentinel()
    sentinel.answer = lie(sentinel.port)
    const lied = await open(`redis+sentinel://:${PASSWORD}@127.0.0.1:${sentinel.port}/main`)
    for (let time = 0; time < 2; time += 1) {
      const { sentence, ms } = await refusal(lied.exchange(addingTo('lied')))
      expect(sentence).toMatch(/^the store at redis\+sentinel:\/\/127\.0\.0\.1:\d+\/main /)
      expect(sentence).not.toContain(PASSWORD)
      expect(ms).toBeLessThan(1100)
    }
    sentinel.answer = address('127.0.0.1', redis.port)
    expect(await back(lied, addingTo('lied'))).toBeLessThan(2500)
  })

  it('does not lead to other Sentinels, which would get the password', async () => {
    const redis = await start({ settings: { requirepass: PASSWORD }, cli })
    const sentinel = await lyingSentinel()
    sentinel.answer = address('127.0.0.1', redis.port)
    const store = await open(`redis+sentinel://:${PASSWORD}@127.0.0.1:${sentinel.port}/main`)
    await store.exchange(addingTo('others'))
    expect(sentinel.asked.filter((words) => words.startsWith('sentinel '))).toEqual(['sentinel get-master-addr-by-name main'])
  })
})
