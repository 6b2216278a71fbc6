import { readFileSync } from 'node:fs'
import type net from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Batch } from '../../src/fleet/store/store.ts'
import { hasRedis } from '../stage/redis.ts'
import { until } from '../stage/until.ts'
import { anyChange, PLACES } from '../store/random-batches.ts'
import { adding, back, listen, open, refusal, start } from './failing-store.ts'

const DAY = 24 * 3_600_000

describe.runIf(hasRedis())('a Redis that refuses', () => {
  const rows: readonly (readonly [title: string, settings: Record<string, string>, url: (at: string) => string, sentence: string])[] = [
    ['a wrong password', { requirepass: 'right-one' }, (at) => `redis://:wrong-one@${at}`, 'refuses the user or the password of store.url'],
    ['no password', { requirepass: 'right-one' }, (at) => `redis://${at}`, 'refuses the user or the password of store.url'],
    ['an unknown user', {}, (at) => `redis://somebody:wrong-one@${at}`, 'refuses the user or the password of store.url'],
    ['a write of a replica', { replicaof: '127.0.0.1 1' }, (at) => `redis://${at}`, 'is a replica that can only be read'],
    ['to keep keys', { maxmemory: '100mb', 'maxmemory-policy': 'volatile-lru' }, (at) => `redis://${at}`, 'maxmemory-policy volatile-lru'],
    ['a database that it does not have', {}, (at) => `redis://${at}/99`, 'DB index is out of range'],
  ]
  it.each(rows)('%s says so without a password', async (_, settings, url, sentence) => {
    const password = settings.requirepass
    const redis = await start({ settings, ...(password && { cli: ['-a', password, '--no-auth-warning'] }) })
    const store = await open(url(`127.0.0.1:${redis.port}`))
    const refused = await refusal(store.exchange(adding('refused')))
    expect(refused.sentence).toContain(`the store at redis://127.0.0.1:${redis.port}`)
    expect(refused.sentence).toContain(sentence)
    expect(refused.sentence).not.toMatch(/wrong-one|right-one/)
    expect(refused.ms).toBeLessThan(1100)
  })

  it('what its memory has no room for changes nothing of a batch, until there is room', async () => {
    const redis = await start({ settings: { maxmemory: '100mb' } })
    const store = await open(redis.url)
    await store.exchange(adding('full'))
    await redis.command('CONFIG', 'SET', 'maxmemory', '1mb')
    const batch = adding('full')
    expect((await refusal(store.exchange(batch))).sentence).toBe(`the store at ${redis.url} is out of memory (maxmemory)`)
    expect((await store.read([{ kind: 'sums', name: 'full' }]))[0]?.value).toEqual({ n: 1 })
    await redis.command('CONFIG', 'SET', 'maxmemory', '100mb')
    expect((await store.exchange(batch))[0]?.value).toEqual({ n: 2 })
  })

  it('a user no more than the documents say', async () => {
    const redis = await start()
    const [, rights = ''] = /`(ACL SETUSER [^`]*)`/.exec(readFileSync('docs/how-to/replicas.md', 'utf8')) ?? []
    await redis.command(...rights.replace('PASSWORD', 'some-password').split(' '))
    const [one, two] = [await open(redis.url.replace('//', '//crosswalk:some-password@')), await open(redis.url)]
    const changes = fc.sample(anyChange, { numRuns: 200, seed: 1 })
    const reads = PLACES.map(([kind, name]) => ({ kind, name }))
    const heard = new Promise<void>((resolve) => two.onNews(resolve))
    await one.exchange({ ...adding('user'), changes, reads, isUrgent: true })
    await heard
    expect((await one.replace('modes', 0, '')).isReplaced).toBe(true)
    expect((await refusal((await open(redis.url.replace('//', '//crosswalk:wrong@'))).read(reads))).sentence).toContain('password')
    await redis.command('ACL', 'SETUSER', 'crosswalk', '-evalsha', '-eval')
    const { sentence } = await refusal(one.exchange(adding('user')))
    expect(sentence).toBe(`the store at ${redis.url} does not permit its user all that Crosswalk needs`)
  })

  it('a script that it forgot gets it again', async () => {
    const redis = await start()
    const store = await open(redis.url)
    await store.exchange(adding('script'))
    await store.exchange(adding('script'))
    await redis.command('SCRIPT', 'FLUSH')
    expect((await store.exchange(adding('script')))[0]?.value).toEqual({ n: 3 })
  })

  it('nothing of a huge batch', async () => {
    const redis = await start()
    const store = await open(redis.url)
    const changes = Array.from({ length: 30_000 }, (_, at) => ({
      ...{ kind: 'claim' as const, key: `some key of a usual length ${at}`, at: Date.now(), ms: 600_000, name: 'huge' },
      ...{ first: { [`n ${at % 700}`]: 1 }, again: { repeats: 1 } },
    }))
    const batch: Batch = { ...adding('huge'), changes }
    const all = await store.exchange(batch)
    expect(Object.keys(all[0]?.value ?? {})).toHaveLength(700)
    expect(Object.values(all[0]?.value ?? {}).reduce((sum, one) => sum + one, 0)).toBe(30_000)
    expect(await store.exchange(batch)).toEqual(all)
  })

  it('to forget what a live replica reads', async () => {
    const redis = await start()
    const store = await open(redis.url)
    const [key, short] = ['{crosswalk:failures}:sums:read', '{crosswalk:failures}:texts:short']
    const changes = [
      { kind: 'add', name: 'read', sums: { n: 1 } },
      { kind: 'write', name: 'short', field: 'f', text: '', keepMs: 60_000 },
    ] as const
    await store.exchange({ ...adding('read'), changes, reads: [] })
    await redis.command('PEXPIRE', key, String(16 * DAY))
    const reads = [
      { kind: 'sums', name: 'read' },
      { kind: 'texts', name: 'short' },
    ] as const
    for (let time = 0; time < 100; time += 1) await store.exchange({ ...adding('read'), changes: [], reads })
    expect(Number(await redis.command('PTTL', key))).toBeGreaterThan(29 * DAY)
    expect(Number(await redis.command('PTTL', short))).toBeLessThan(60_001)
  })

  it('news only for a while', async () => {
    const redis = await start()
    const [one, two] = [await open(redis.url), await open(redis.url)]
    let heard = 0
    two.onNews(() => {
      heard += 1
    })
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await back(two, adding('news'))
    await back(one, adding('news'))
    await until(async () => {
      await one.exchange({ ...adding('news'), isUrgent: true })
      return heard > 0
    })
  })
})

describe('what is no Redis', () => {
  const rows: readonly (readonly [what: string, sentence: string, answer: (socket: net.Socket) => unknown])[] = [
    [
      'an HTTP server',
      'does not speak the protocol of Redis',
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    ],
    ['a port that says nothing', 'did not answer in time', () => {}],
    ['a port that hangs up', 'closed the connection', (socket) => socket.end()],
    [
      'an old Redis',
      'is Redis 5.0.14, but Crosswalk needs Redis 7 or Valkey 7.2',
      (socket) => socket.on('data', (data) => socket.write(oldRedis(String(data)))),
    ],
  ]
  it.each(rows)('%s is refused: %s', async (_, sentence, answer) => {
    const port = await listen(answer)
    const store = await open(`redis://user:some-password@127.0.0.1:${port}`)
    const refused = await refusal(store.exchange(adding('none')))
    expect(refused.ms).toBeLessThan(1100)
    expect(refused.sentence).toBe(`the store at redis://127.0.0.1:${port} ${sentence}`)
  })
})

/** Redis 5 knows no HELLO and quotes what it does not know. */
function oldRedis(commands: string): string {
  const names = [...commands.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)].map(([, name]) => name?.toLowerCase())
  const info = '# Server\r\nredis_version:5.0.14\r\nrole:master\r\nloading:0\r\n'
  return names
    .map((name) => {
      if (name === 'hello') return '-ERR unknown command `hello`, with args beginning with: `3`, `AUTH`, `user`, `some-password`, \r\n'
      if (name === 'info') return `$${info.length}\r\n${info}\r\n`
      return '+OK\r\n'
    })
    .join('')
}
