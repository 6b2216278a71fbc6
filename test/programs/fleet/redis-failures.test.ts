import { readFileSync } from 'node:fs'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Batch } from '../../../src/fleet/store/store.ts'
import { runCommand } from '../../app/cli/support.ts'
import { anyChange, PLACES } from '../../fleet/store-contract.ts'
import { startOwnTime, until } from '../../stage/clocks.ts'
import { hasRedis, startRedisReplica, type TestRedis } from '../../stage/stores.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'
import { adding, back, listen, open, refusal, start } from './failing-store.ts'

describe.runIf(hasRedis())('a Redis that fails', () => {
  it('is refused within its time when it is frozen, and is caught up with within 2 s', async () => {
    const redis = await start()
    const store = await open(redis.url)
    await store.replace('modes', 0, 'first')
    await store.exchange(adding('frozen'))
    redis.freeze()
    const replaced = await refusal(store.replace('modes', 1, 'second'))
    expect(replaced.sentence).toBe(`the store at ${redis.url} did not answer within 250 ms`)
    expect(replaced.ms).toBeLessThan(300)
    const batch = adding('frozen')
    const exchanged = await refusal(store.exchange(batch))
    expect(exchanged.ms).toBeLessThan(1100)
    for (let time = 0; time < 3; time += 1) expect((await refusal(store.exchange(batch))).ms).toBeLessThan(1100)
    redis.thaw()
    expect(await back(store, batch)).toBeLessThan(2000)
    const [sums, modes] = await store.read([
      { kind: 'sums', name: 'frozen' },
      { kind: 'document', name: 'modes' },
    ])
    // The batch was sent four times, and counts once. What was refused to a person does not come true later.
    expect(sums?.value).toEqual({ n: 2 })
    expect(modes?.value).toEqual({ version: 1, text: 'first' })
  })

  it('is refused at once when it is dead, and has everything again with its file', async () => {
    const redis = await start({ settings: { appendonly: 'yes', appendfsync: 'always' } })
    const store = await open(redis.url)
    await store.exchange(adding('dead'))
    const known = (await store.read([{ kind: 'sums', name: 'dead' }]))[0]?.stamp ?? 0
    await redis.kill()
    const batch = adding('dead')
    await refusal(store.exchange(batch))
    const dead = await until(async () => {
      const { sentence, ms } = await refusal(store.exchange(batch))
      return sentence.includes('nothing listens') && { sentence, ms }
    })
    expect(dead.sentence).toBe(
      `the store at ${redis.url} cannot be reached: nothing listens (127.0.0.1:${redis.port}); start Redis there, or correct store.url`,
    )
    expect(dead.ms).toBeLessThan(50)
    expect((await refusal(store.replace('modes', 0, ''))).ms).toBeLessThan(50)
    await redis.start()
    expect(await back(store, batch)).toBeLessThan(2000)
    const [found] = await store.read([{ kind: 'sums', name: 'dead', known }])
    expect(found?.value).toEqual({ n: 2 })
  })

  it('says that it lost everything, by the stamp 0', async () => {
    const redis = await start()
    const store = await open(redis.url)
    await store.exchange(adding('lost'))
    const [before] = await store.read([{ kind: 'sums', name: 'lost' }])
    await redis.kill()
    await redis.start()
    await back(store, { ...adding('another'), reads: [] })
    expect(await store.read([{ kind: 'sums', name: 'lost', known: before?.stamp ?? 0 }])).toEqual([{ stamp: 0, value: {} }])
  })

  it.each([
    ['is there for a replica that started before it', (redis: TestRedis) => redis.kill(), (redis: TestRedis) => redis.start()],
    ['lets a replica start while it is frozen', (redis: TestRedis) => redis.freeze(), (redis: TestRedis) => redis.thaw()],
  ] as const)('%s', async (_, leaves, returns) => {
    const redis = await start()
    await leaves(redis)
    const took = startOwnTime()
    const store = await open(redis.url)
    expect(took()).toBeLessThan(1200)
    await refusal(store.exchange(adding('early')))
    await returns(redis)
    expect(await back(store, adding('early'))).toBeLessThan(2000)
  })

  it('is refused within its time when each answer takes a second', async () => {
    const redis = await start()
    const port = await listen((socket) => {
      const behind = net.connect(redis.port, '127.0.0.1').on('error', () => {})
      socket.on('data', (data) => void delay(500).then(() => behind.write(data)))
      behind.on('data', (data) => void delay(500).then(() => socket.destroyed || socket.write(data)))
      socket.on('close', () => behind.destroy())
    })
    const store = await open(`redis://127.0.0.1:${port}`)
    for (let time = 0; time < 3; time += 1) {
      expect((await refusal(store.exchange(adding('slow')))).ms).toBeLessThan(1100)
      expect((await refusal(store.replace('modes', 0, ''))).ms).toBeLessThan(300)
    }
  })

  it('keeps nothing of what it did not answer, because its connection is closed', async () => {
    const redis = await start()
    let isFrozen = false
    let closed = 0
    const port = await listen((socket) => {
      const behind = net.connect(redis.port, '127.0.0.1').on('error', () => {})
      socket.on('data', (data) => isFrozen || behind.write(data))
      behind.on('data', (data) => socket.destroyed || socket.write(data))
      socket.on('close', () => {
        closed += 1
        behind.destroy()
      })
    })
    const store = await open(`redis://127.0.0.1:${port}`)
    await store.exchange(adding('kept'))
    isFrozen = true
    const batch = adding('kept')
    for (let time = 0; time < 2; time += 1) await refusal(store.exchange(batch))
    await until(async () => closed > 0, 'the connection is closed')
    isFrozen = false
    expect(await back(store, batch)).toBeLessThan(2000)
    expect((await store.read([{ kind: 'sums', name: 'kept' }]))[0]?.value).toEqual({ n: 2 })
  })
})

const ROOT = '{crosswalk:failures}:'

describe.runIf(hasRedis())('a key that somebody else wrote', () => {
  const rows: readonly (readonly [key: string, needed: string, batch: Pick<Batch, 'changes' | 'reads'>])[] = [
    ['sums:foreign', 'hash', { changes: [{ kind: 'add', name: 'foreign', sums: { n: 1 } }], reads: [] }],
    ['texts:foreign', 'hash', { changes: [{ kind: 'mark', name: 'foreign', field: 'f', text: '' }], reads: [] }],
    ['log:foreign', 'stream', { changes: [{ kind: 'log', name: 'foreign', text: '', items: 9 }], reads: [] }],
    ['lease:foreign', 'hash', { changes: [{ kind: 'lease', name: 'foreign', ms: 1000 }], reads: [] }],
    ['document:foreign', 'hash', { changes: [{ kind: 'raise', name: 'foreign', version: 1, text: '' }], reads: [] }],
    ['beats', 'hash', { changes: [{ kind: 'beat', text: '', ms: 1000 }], reads: [] }],
    ['sums:read', 'hash', { changes: [], reads: [{ kind: 'sums', name: 'read' }] }],
    ['log:read', 'stream', { changes: [], reads: [{ kind: 'log', name: 'read' }] }],
  ]
  it.each(rows)('at %s stops a batch before it writes anything', async (key, needed, { changes, reads }) => {
    const redis = await start()
    const store = await open(redis.url)
    await redis.command('SET', ROOT + key, 'of somebody else')
    const observed = { first: { n: 1 }, again: { repeats: 1 } }
    const claim = { kind: 'claim', key: 'pair', at: Date.now(), ms: 600_000, name: 'evidence', ...observed } as const
    const batch = { ...adding('whole'), changes: [claim, ...adding('whole').changes, ...changes], reads }
    const { sentence } = await refusal(store.exchange(batch))
    expect(sentence).toBe(
      `the store at ${redis.url} has a string at the key ${ROOT}${key}, where Crosswalk keeps a ${needed}: somebody else writes there. Delete or rename that key, or choose another store.name`,
    )
    expect(await redis.command('KEYS', '*')).toBe(ROOT + key)
    await redis.command('DEL', ROOT + key)
    await store.exchange(batch)
    expect((await store.read([{ kind: 'sums', name: 'evidence' }]))[0]?.value).toEqual({ n: 1 })
  })

  it('stops members of a set, and a document that a person replaces', async () => {
    const redis = await start()
    const store = await open(redis.url)
    await redis.command('SET', `${ROOT}document:modes`, '')
    expect((await refusal(store.replace('modes', 0, ''))).sentence).toContain(`the key ${ROOT}document:modes`)
    const join = { kind: 'join', name: 'callers', field: 'f', member: 'm', most: 9 } as const
    await store.exchange({ ...adding('set'), changes: [join] })
    const key = (await redis.command('--raw', 'KEYS', `${ROOT}members:*`)).replaceAll('\0', '')
    expect(key).toBe(`${ROOT}members:callersf`)
  })

  it('is told by /readyz, the log and a metric until it is gone', async () => {
    const redis = await start()
    const v2 = await startUpstream(answering({ response: 'pong' }))
    onTestFinished(v2.close)
    const replica = await startRedisReplica(redis.url, { 'upstream.v2': v2.url })
    onTestFinished(replica.close)
    const key = '{crosswalk:default}:texts:redaction'
    await redis.command('DEL', key)
    await redis.command('SET', key, '')
    const metrics = async () => (await fetch(`${replica.adminUrl}/metrics`)).text()
    await until(async () => (await metrics()).includes(`crosswalk_store_foreign_key{key="${key}"} 1`))
    expect(replica.log.map(({ msg }) => String(msg))).toContainEqual(
      expect.stringContaining(`the store takes nothing, because somebody else wrote the key ${key}:`),
    )
    const taken = expect.stringMatching(
      /^nothing taken for \d+ s \(the store at .* has a string at the key \{crosswalk:default\}:texts:redaction, /,
    )
    expect((await replica.ask('/readyz')).body).toMatchObject({ status: 'ok', store: taken })
    await redis.command('DEL', key)
    await until(async () => (await metrics()).includes('\ncrosswalk_store_up 1'))
    expect((await metrics()).split('\n').filter((line) => line.startsWith('crosswalk_store_foreign_key{'))).toEqual([])
  })
})

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
    const url = redis.url.replace('//', '//crosswalk:some-password@')
    expect(await runCommand(['serve', '--check', '--upstream-v2', 'http://v2.test', '--store-url', url])).toMatchObject({
      code: 0,
      err: '',
    })
    const [one, two] = [await open(url), await open(redis.url)]
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
