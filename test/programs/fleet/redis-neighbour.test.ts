import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../../../src/fleet/store/open.ts'
import type { Batch, Store, StoreChange, StoreRead } from '../../../src/fleet/store/store.ts'
import { until } from '../../stage/clocks.ts'
import { hasRedis, type RedisReplica, startRedis, startRedisReplica, type TestRedis } from '../../stage/stores.ts'
import { answering, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { refusal } from './failing-store.ts'

const ROOT = '{crosswalk:neighbour}:'
const OWN = { kind: 'add', name: 'own', sums: { n: 1 } } as const

/** What a neighbour has written, as a script of Redis, what a replica then does, and what it finds. */
interface Written {
  readonly script: string
  readonly change?: StoreChange
  readonly read: StoreRead
  readonly found: unknown
}

const HIGHEST = "'18446744073709551615-0'"
const beat = { kind: 'beat', text: 'alive', ms: 60_000 } as const
const item = (text: string) => [{ nth: expect.any(Number), replica: 'one', text }]

const WRITTEN: Readonly<Record<string, Written>> = {
  'heartbeats that are none': {
    script: `redis.call('HSET', root .. 'beats', 'a', 'garbage', 'b', '', 'c', '-1 2 x')`,
    change: beat,
    read: { kind: 'replicas', name: '' },
    found: [{ replica: 'one', text: 'alive', agoMs: expect.any(Number) }],
  },
  'items of a log with other members': {
    script: `redis.call('XADD', root .. 'log:l', '*', 'a', 'b') redis.call('XADD', root .. 'log:l', '*', 'text', 'a', 'replica', 'b', 'more', 'c')`,
    change: { kind: 'log', name: 'l', text: 'mine', items: 9 },
    read: { kind: 'log', name: 'l' },
    found: item('mine'),
  },
  'the highest number of a log': {
    script: `redis.call('XADD', root .. 'log:l', ${HIGHEST}, 'replica', 'x', 'text', 'y')`,
    change: { kind: 'log', name: 'l', text: 'mine', items: 9 },
    read: { kind: 'log', name: 'l' },
    found: item('mine'),
  },
  'the highest number of a log, which is read alone': {
    script: `redis.call('XADD', root .. 'log:l', ${HIGHEST}, 'replica', 'x', 'text', 'y')`,
    read: { kind: 'log', name: 'l', known: 5 },
    found: [],
  },
  'the highest number of an empty log': {
    script: `redis.call('XADD', root .. 'log:l', '5-0', 'a', 'b') redis.call('XDEL', root .. 'log:l', '5-0') redis.call('XSETID', root .. 'log:l', ${HIGHEST})`,
    change: { kind: 'log', name: 'l', text: 'mine', items: 9 },
    read: { kind: 'log', name: 'l' },
    found: item('mine'),
  },
  'a document of no version': {
    script: `redis.call('HSET', root .. 'document:d', 'version', 'abc', 'text', 'theirs', 'stamp', 'abc')`,
    change: { kind: 'raise', name: 'd', version: 1, text: 'mine' },
    read: { kind: 'document', name: 'd' },
    found: { version: 1, text: 'mine' },
  },
  'a document of the highest version': {
    script: `redis.call('HSET', root .. 'document:d', 'version', '1e308', 'text', 'theirs', 'stamp', '1e308')`,
    change: { kind: 'raise', name: 'd', version: 1, text: 'mine' },
    read: { kind: 'document', name: 'd' },
    found: { version: 1, text: 'mine' },
  },
  'sums that are no numbers': {
    script: `redis.call('HSET', root .. 'sums:s', 'n', 'abc', 'inf', 'inf', 'nan', 'nan', 'large', '1e300', '\\0', 'abc')`,
    change: { kind: 'add', name: 's', sums: { n: 1, inf: 1, nan: 1, large: 1 } },
    read: { kind: 'sums', name: 's' },
    found: { n: 1, inf: 1, nan: 1, large: 1 },
  },
  'sums that are no numbers, which are read alone': {
    script: `redis.call('HSET', root .. 'sums:s', 'n', 'abc', 'inf', 'inf', 'ours', '2', '\\0', '1e308')`,
    read: { kind: 'sums', name: 's' },
    found: { n: 0, inf: 0, ours: 2 },
  },
  'a budget that is no number': {
    script: `redis.call('HSET', root .. 'sums:s', 'n', 'abc', 'one', 'abc')`,
    change: { kind: 'draw', name: 's', amount: 2, most: 5 },
    read: { kind: 'sums', name: 's' },
    found: { n: 0, one: 2 },
  },
  'a claim of no time': {
    script: `redis.call('SET', root .. 'claim:k', 'abc')`,
    change: { kind: 'claim', key: 'k', at: 1_790_000_000_000, ms: 1000, name: 's', first: { n: 1 }, again: { again: 1 } },
    read: { kind: 'sums', name: 's' },
    found: { n: 1 },
  },
  'a number of batches that is none': {
    script: `redis.call('SET', root .. 'batch:one', 'abc')`,
    read: { kind: 'sums', name: 'own' },
    found: { n: 1 },
  },
}

describe.runIf(hasRedis())('a neighbour who writes into the keys of Crosswalk', () => {
  let redis: TestRedis
  let store: Store
  let batches = 0
  beforeAll(async () => {
    redis = await startRedis()
    store = await openStore(redis.url, 'neighbour')
  })
  beforeEach(() => redis.command('FLUSHALL'))
  afterAll(async () => {
    await store.close()
    await redis.stop()
  })
  const run = (script: string) => redis.command('EVAL', `local root = KEYS[1] ${script}`, '1', ROOT)
  const batch = (changes: Batch['changes'], reads: Batch['reads']): Batch => {
    batches += 1
    return { replica: 'one', nth: batches, changes, reads, isUrgent: true }
  }

  it.each(Object.entries(WRITTEN))('is passed over: %s', async (_, { script, change, read, found }) => {
    await run(script)
    const [seen] = await store.exchange(batch([OWN, ...(change ? [change] : [])], [read]))
    expect(seen?.value).toEqual(found)
  })

  it('can be put right by a person: a document of no version', async () => {
    await run(`redis.call('HSET', root .. 'document:d', 'version', '-1', 'text', 'theirs')`)
    expect(await store.replace('d', 0, 'mine')).toEqual({ isReplaced: true, document: { version: 1, text: 'mine' } })
    await run(`redis.call('HSET', root .. 'document:d', 'version', '1.0')`)
    expect(await store.replace('d', 1, 'again')).toEqual({ isReplaced: true, document: { version: 2, text: 'again' } })
  })

  it('is told by the key of a text that is longer than all that Crosswalk writes', async () => {
    const long = `string.rep('x', ${20 * 2 ** 20})`
    for (const [key, fields, read] of [
      ['texts:t', `'f', ${long}`, { kind: 'texts', name: 't' }],
      ['document:d', `'version', '1', 'text', ${long}`, { kind: 'document', name: 'd' }],
    ] as const) {
      await run(`redis.call('HSET', root .. '${key}', ${fields})`)
      const { sentence } = await refusal(store.exchange(batch([OWN], [read])))
      expect(sentence).toBe(
        `the store at ${redis.url} has more at the key ${ROOT}${key} than Crosswalk writes: somebody else writes there. Delete or rename that key, or choose another store.name`,
      )
      await redis.command('DEL', ROOT + key)
      await store.exchange(batch([OWN], [read]))
    }
  })

  it('does not wake anybody by a long message', async () => {
    let heard = 0
    store.onNews(() => {
      heard += 1
    })
    await run(`redis.call('PUBLISH', root .. 'news', string.rep('x', ${2 ** 22}))`)
    await run(`redis.call('PUBLISH', root .. 'news', 'another')`)
    await until(async () => heard > 0)
    expect(heard).toBe(1)
  })
})

const DEFAULT = '{crosswalk:default}:'
const DEEP = `string.rep('[', 200000) .. string.rep(']', 200000)`

/** Texts, as expressions of Lua, that no replica writes. */
const TEXTS: readonly string[] = [
  `''`,
  `'null'`,
  `'"a'`,
  DEEP,
  `'{"rules":' .. ${DEEP} .. ',"by":{"source":"admin"},"at":1}'`,
  `'{"rules":{"default":"v2"},"by":{"source":{"toString":1}},"at":1}'`,
  `'{"at":"2027-01-01T00:00:00Z","by":{"source":"admin","token":{"toString":1,"valueOf":1}}}'`,
  `'{"__proto__":{"id":1},"constructor":1,"id":{"toString":1}}'`,
  `'{"id":"x","lost":{"epoch":1e999,"at":1}}'`,
  `'{"kind":"note","id":"n","at":"2027-01-01T00:00:00Z","what":"modes","text":"x","by":{"source":1}}'`,
  `string.rep('1', 100000)`,
]

const PATHS = ['/readyz', '/modes', '/evidence', '/clients', '/comparisons', '/rollouts', '/circuits', '/report.json']

describe.runIf(hasRedis())('replicas beside a hostile neighbour', () => {
  let redis: TestRedis
  let v2: Upstream
  let replica: RedisReplica
  beforeAll(async () => {
    redis = await startRedis()
    v2 = await startUpstream(answering({ groups: [] }))
    replica = await startRedisReplica(redis.url, { 'upstream.v2': v2.url, 'upstream.v1': v2.url })
    await until(async () => (await replica.ask('/readyz')).status === 200)
  })
  afterAll(async () => {
    await replica.close()
    await v2.close()
    await redis.stop()
  })
  const run = (script: string) => redis.command('EVAL', script, '0')
  const keys = async () =>
    (await redis.command('--raw', 'KEYS', `${DEFAULT}*`)).split('\n').filter((key) => /^[\w{}:.-]+$/.test(key) && !key.includes('batch'))

  /** The admin port answers everything, but for modes that nobody can read; and nothing was a defect of Crosswalk. */
  const stands = async () => {
    const before = replica.log.length
    const statuses = await Promise.all(PATHS.map(async (path) => [path, (await replica.ask(path)).status] as const))
    expect(statuses.filter(([, status]) => status !== 200 && status !== 503)).toEqual([])
    expect((await fetch(`${replica.url}/iam/v1/groups`)).status).toBeLessThan(504)
    expect(replica.log.slice(before).filter(({ level, err }) => Number(level) >= 50 || err !== undefined)).toEqual([])
  }

  it.each(TEXTS)('stand %s in every document, text, item and heartbeat', async (text) => {
    for (const key of await keys()) {
      await run(`
        local key, given = '${key}', ${text}
        local type = redis.call('TYPE', key).ok
        if type == 'stream' then redis.call('XADD', key, '*', 'replica', 'x', 'text', given) end
        if type ~= 'hash' then return end
        if string.find(key, ':document:', 1, true) then
          local version = tonumber(redis.call('HGET', key, 'version')) or 0
          redis.call('HSET', key, 'version', string.format('%.0f', version + 1), 'text', given, 'stamp', string.format('%.0f', 4e15 + version))
        elseif string.find(key, 'beats', 1, true) then
          redis.call('HSET', key, 'x', '9999999999999999 1 ' .. given)
        else
          for _, field in ipairs(redis.call('HKEYS', key)) do redis.call('HSET', key, field, given) end
        end`)
    }
    await stands()
    await stands()
  })

  it('stand 60,000 fields, items and heartbeats at every key', async () => {
    for (const key of await keys()) {
      await run(`
        local key = '${key}'
        local type = redis.call('TYPE', key).ok
        for i = 1, 60000 do
          if type == 'stream' then redis.call('XADD', key, '*', 'replica', 'x', 'text', '{"a":1}')
          elseif type == 'hash' then redis.call('HSET', key, 'field ' .. i, i % 2 == 0 and '{"a":1}' or '9999999999999999 1 {}') end
        end`)
    }
    await stands()
  })

  it('go on when the keys are gone', async () => {
    await redis.command('FLUSHALL')
    await until(async () => (await replica.ask('/evidence')).status === 200)
    await stands()
  })
})
