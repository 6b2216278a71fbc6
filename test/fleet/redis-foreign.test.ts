import { describe, expect, it, onTestFinished } from 'vitest'
import type { Batch } from '../../src/fleet/store/store.ts'
import { hasRedis } from '../stage/redis.ts'
import { startRedisReplica } from '../stage/redis-replicas.ts'
import { until } from '../stage/until.ts'
import { answering, startUpstream } from '../stage/upstream.ts'
import { adding, open, refusal, start } from './failing-store.ts'

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
