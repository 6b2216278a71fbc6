import { EventEmitter } from 'node:events'
import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config/config.ts'
import { createLine } from '../../src/app/server/line.ts'
import { openFile } from '../../src/fleet/store/file.ts'
import { createIpcStore, hostStore } from '../../src/fleet/store/ipc.ts'
import { createMemory, createShelf } from '../../src/fleet/store/memory.ts'
import { refusalOf, unfitness } from '../../src/fleet/store/redis.ts'
import { stepsOf } from '../../src/fleet/store/redis-scripts.ts'
import { readStoreUrl, type Store, StoreDown, splitStore } from '../../src/fleet/store/store.ts'
import { anyChange, keepsTheContract, replicaOf } from './store-contract.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-store-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Two ends of a channel between processes, which copies what it carries. */
function channel() {
  const [worker, supervisor] = [new EventEmitter(), new EventEmitter()]
  const to = (end: EventEmitter) => (message: unknown) => {
    const copy = structuredClone(message)
    setImmediate(() => end.emit('message', copy))
  }
  return { worker: Object.assign(worker, { send: to(supervisor) }), supervisor: Object.assign(supervisor, { send: to(worker) }) }
}

/** A store as a worker sees it, through its supervisor. */
function throughLine(store: Store) {
  const { worker, supervisor } = channel()
  hostStore(store, createLine(supervisor))
  const line = createLine(worker)
  return { store: createIpcStore(line), line }
}

/** How each store is opened for one more replica. Redis keeps the same contract in `test/programs/fleet/redis.test.ts`. */
const STORES: Readonly<Record<string, (now: () => number) => Promise<() => Store>>> = {
  'in memory': async (now) => createMemory(now).open,
  async 'in a file'(now) {
    return (await openFile(join(directory, 'contract'), now)).open
  },
  async 'of the supervisor, as its workers see it'(now) {
    const split = splitStore(createMemory(now).open())
    return () => throughLine(split.open()).store
  },
}

describe.each(Object.entries(STORES))('a store %s', async (_, opened) => {
  let now = 1_790_000_000_000
  const open = await opened(() => now)
  keepsTheContract({
    open: async () => open(),
    async pass(ms) {
      now += ms
    },
  })
})

describe('batch steps', () => {
  it('sends a large batch in steps, with its heartbeat and its reads in the last', () => {
    const batches = fc.tuple(fc.array(anyChange, { maxLength: 40 }), fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 9 }))
    const run = fc.property(batches, ([changes, nth, most]) => {
      const batch = { replica: 'a', nth, changes, reads: [{ kind: 'replicas', name: '' }], isUrgent: true } as const
      const steps = stepsOf(batch, most)
      const sent = steps.flatMap((step) => step.changes)
      expect(sent).toHaveLength(changes.length)
      expect(sent.filter(({ kind }) => kind !== 'beat')).toEqual(changes.filter(({ kind }) => kind !== 'beat'))
      expect(steps.every((step) => step.changes.length <= most)).toBe(true)
      const numbers = steps.map((step) => step.nth)
      expect(numbers.every((number, at) => number > (numbers[at - 1] ?? nth - 1))).toBe(true)
      expect(steps.at(-1)).toMatchObject({ nth, reads: batch.reads, isUrgent: true })
      expect(steps.slice(0, -1).every(({ isUrgent, reads }) => !isUrgent && reads.length === 0)).toBe(true)
      const beats = sent.flatMap(({ kind }, at) => (kind === 'beat' ? [at] : []))
      expect(steps.length === 1 || beats.every((at) => at >= sent.length - beats.length)).toBe(true)
    })
    fc.assert(run, { numRuns: 100 })
  })
})

describe('the file of a store', () => {
  const NOW = 1_790_000_000_000
  const at = () => NOW

  it('has all that does not belong to one process, when it is opened again', async () => {
    const path = join(directory, 'again')
    const first = replicaOf((await openFile(path, at)).open(), 'first')
    await first.store.replace('modes', 0, 'the modes')
    await first.send(
      { kind: 'add', name: 's', sums: { n: 2, ['__proto__']: 1 } },
      { kind: 'write', name: 't', field: 'f', text: '$map' },
      { kind: 'log', name: 'l', text: 'one', items: 9 },
      { kind: 'claim', key: 'k', at: NOW, ms: 1000, name: 'c', first: { n: 1 }, again: { repeats: 1 } },
      { kind: 'join', name: 'j', field: 'shapes', member: 'a', most: 9 },
      { kind: 'lease', name: 'leader', ms: 60_000 },
      { kind: 'beat', text: 'alive', ms: 60_000 },
    )
    const stamp = (await first.ask('sums', 's'))?.stamp
    await first.store.close()
    const second = replicaOf((await openFile(path, at)).open(), 'second')
    await second.send(
      { kind: 'claim', key: 'k', at: NOW, ms: 1000, name: 'c', first: { n: 1 }, again: { repeats: 1 } },
      { kind: 'join', name: 'j', field: 'shapes', member: 'a', most: 9 },
      { kind: 'log', name: 'l', text: 'two', items: 9 },
    )
    expect(await second.ask('sums', 's')).toEqual({ stamp, value: { n: 2, ['__proto__']: 1 } })
    expect(await second.value('texts', 't')).toEqual({ f: '$map' })
    expect((await second.value('log', 'l'))?.map(({ text, replica }) => [text, replica])).toEqual([
      ['one', 'first'],
      ['two', 'second'],
    ])
    expect(await second.value('sums', 'c')).toEqual({ n: 1, repeats: 1 })
    expect(await second.value('sums', 'j')).toEqual({ shapes: 1 })
    expect(await second.value('document', 'modes')).toEqual({ version: 1, text: 'the modes' })
    expect(await second.value('lease', 'leader')).toBeUndefined()
    expect(await second.value('replicas')).toEqual([])
    await second.store.close()
  })

  it('has an urgent batch and a new document before they are answered', async () => {
    const path = join(directory, 'urgent')
    const store = (await openFile(path, at)).open()
    await store.replace('modes', 0, 'the first')
    expect(readFileSync(path, 'utf8')).toContain('the first')
    const changes = [{ kind: 'mark', name: 'open', field: 'users.get', text: 'the circuit' }] as const
    await store.exchange({ replica: 'a', nth: 1, changes, reads: [], isUrgent: true })
    expect(readFileSync(path, 'utf8')).toContain('the circuit')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await store.close()
  })

  it.each([
    ['follows no link beside it', (aside: string, victim: string) => symlinkSync(victim, aside)],
    ['is for its owner alone, whatever stood beside it', (aside: string) => writeFileSync(aside, 'left', { mode: 0o666 })],
  ])('%s', async (name, leave) => {
    const [path, victim] = [join(directory, name), join(directory, `${name} victim`)]
    writeFileSync(victim, 'of somebody else')
    leave(`${path}.new`, victim)
    const store = (await openFile(path, at)).open()
    await store.replace('modes', 0, 'the modes')
    expect(readFileSync(victim, 'utf8')).toBe('of somebody else')
    expect([lstatSync(path).isFile(), statSync(path).mode & 0o777]).toEqual([true, 0o600])
    expect(readFileSync(path, 'utf8')).toContain('the modes')
    await store.close()
  })

  it.each([
    ['is cut off', (text: string) => text.slice(0, -9)],
    ['is empty', () => ''],
    ['is of something else', () => '{"modes":{}}'],
  ])('ends the start with a sentence if it %s', async (_, spoil) => {
    const path = join(directory, 'spoilt')
    rmSync(path, { force: true })
    await (await openFile(path, at)).open().close()
    writeFileSync(path, spoil(readFileSync(path, 'utf8')))
    await expect(openFile(path, at)).rejects.toThrow(`${path} is not a whole store of Crosswalk. Move it away to begin with an empty one`)
  })

  it('ends the start with a sentence if it cannot be written', async () => {
    await expect(openFile(join(directory, 'no/such/directory'), at)).rejects.toThrow('cannot be written: there is no such file')
    await expect(openFile(directory, at)).rejects.toThrow('cannot be read: it is a folder')
  })

  it('refuses a second process', async () => {
    const path = join(directory, 'shared')
    const first = (await openFile(path, at)).open()
    const second = (await openFile(path, at)).open()
    expect((await second.replace('modes', 0, 'second')).isReplaced).toBe(true)
    await expect(first.replace('modes', 0, 'first')).rejects.toThrow(`file:${path} cannot be written: another process writes this file`)
    await first.exchange({ replica: 'a', nth: 1, changes: [{ kind: 'beat', text: '', ms: 1 }], reads: [], isUrgent: false })
    const late = replicaOf(first, 'b').send({ kind: 'write', name: 't', field: 'f', text: 'first' })
    await expect(late).rejects.toThrow('another process')
    expect(readFileSync(path, 'utf8')).not.toContain('"first"')
  })
})

describe('ipc', () => {
  const QUESTION = { replica: 'a', nth: 1, changes: [], reads: [], isUrgent: false }

  /** A question with changes that no worker makes. */
  function exchange(...changes: readonly unknown[]) {
    return { what: 'exchange', batch: { ...QUESTION, changes } }
  }

  it('tells a worker why the store is down', async () => {
    const frozen: Store = { ...createMemory(() => 0).open(), exchange: () => Promise.reject(new StoreDown('redis does not answer')) }
    await expect(throughLine(frozen).store.exchange(QUESTION)).rejects.toThrow(new StoreDown('redis does not answer'))
  })

  it.each([
    ['nothing', undefined],
    ['another question', { what: 'forget', name: 'modes' }],
    ['a document without a text', { what: 'replace', name: 'modes', version: 0, text: { rules: [] } }],
    ['a document of no version', { what: 'replace', name: 'modes', version: Number.NaN, text: '' }],
    ['reads that are no list', { what: 'read', reads: { length: 1 } }],
    ['a read of another kind', { what: 'read', reads: [{ kind: 'constructor', name: 'a' }] }],
    ['a sum that is no number', exchange({ kind: 'add', name: 'a', sums: { n: 'one' } })],
    ['a change of another kind', exchange({ kind: '__proto__', name: 'a' })],
    ['100,000 changes that are none', exchange(...Array.from({ length: 100_000 }, () => null))],
  ])('refuses of a worker: %s', async (_, question) => {
    const memory = createMemory(() => 0).open()
    const { line } = throughLine(memory)
    expect(await line.ask('store', question)).toEqual({ down: 'the worker asked the store for what nobody understands' })
    const places = [{ kind: 'sums', name: 'a' } as const, { kind: 'document', name: 'modes' } as const]
    expect((await memory.read(places)).map((found) => found?.value)).toEqual([{}, { version: 0, text: '' }])
  })

  it('is down for a worker whose supervisor is gone', async () => {
    const { store, line } = throughLine(createMemory(() => 0).open())
    line.end()
    await expect(store.read([])).rejects.toThrow(StoreDown)
  })
})

describe('memory', () => {
  it('forgets what nobody changes or reads for 30 days, but no document', async () => {
    let now = 1_790_000_000_000
    const one = replicaOf(createMemory(() => now).open(), 'one')
    await one.send({ kind: 'mark', name: 'read', field: 'f', text: 'x' }, { kind: 'mark', name: 'left', field: 'f', text: 'x' })
    await one.store.replace('modes', 0, 'x')
    for (let day = 0; day < 40; day += 10) {
      now += 10 * 24 * 3_600_000
      await one.ask('texts', 'read')
    }
    expect(await one.value('texts', 'read')).toEqual({ f: 'x' })
    expect(await one.value('texts', 'left')).toEqual({})
    expect(await one.value('document', 'modes')).toEqual({ version: 1, text: 'x' })
  })

  it('finds heartbeats again within one tick of its clock', async () => {
    const store = createMemory(() => 1).open()
    const ask = (nth: number, known?: number) =>
      store.exchange({ replica: 'a', nth, changes: [], reads: [{ kind: 'replicas', name: '', ...(known && { known }) }], isUrgent: false })
    const [first] = await ask(1)
    expect(await ask(2, first?.stamp)).toEqual([{ stamp: first?.stamp, value: [] }])
  })

  it('a shelf holds no more than twice of what is not forgotten', () => {
    let now = 0
    const shelf = createShelf<number>(() => now)
    let most = 0
    for (let at = 0; at < 50_000; at += 1) {
      now = at
      shelf.set(`thing ${at}`, at, at + 1000)
      most = Math.max(most, shelf.size())
    }
    expect(most).toBeLessThanOrEqual(2001)
    expect(shelf.entries()).toHaveLength(1000)
  })
})

describe('refusals', () => {
  it.each([
    ['WRONGPASS invalid username-password pair or user is disabled.', 'refuses the user or the password of store.url'],
    ['NOAUTH Authentication required.', 'refuses the user or the password of store.url'],
    [
      'ERR AUTH <password> called without any password configured. secret',
      'cannot be used: ERR AUTH <password> called without any password configured. ***',
    ],
    [
      "READONLY You can't write against a read only replica. script: 1",
      'is a replica that can only be read: store.url must name the primary, or the Sentinels',
    ],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'is out of memory (maxmemory)'],
    ['LOADING Redis is loading the dataset in memory', 'still loads its data'],
    ['MOVED 1234 10.0.0.1:6379', 'is a Redis Cluster: store.url must name a single Redis, or Sentinels'],
    ['unable to verify the first certificate', 'has a certificate that is not trusted: unable to verify the first certificate'],
    [
      "Hostname/IP does not match certificate's altnames: Host: a",
      "has a certificate that is not trusted: Hostname/IP does not match certificate's altnames: Host: a",
    ],
    [
      'All sentinels are unreachable. Last error: connect ECONNREFUSED 10.0.0.1:26379',
      'cannot be reached: nothing listens; start Redis there, or correct store.url',
    ],
  ])('says of "%s" that the store %s', (message, sentence) => {
    expect(refusalOf(new Error(message), ['secret'])).toBe(sentence)
  })

  it('says why a connection to several addresses failed', () => {
    const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
    expect(refusalOf(error, [])).toBe('cannot be reached: nothing listens; start Redis there, or correct store.url')
  })

  it.each([
    [{ code: 'ECONNREFUSED', address: '10.0.0.1', port: 6379 }, 'nothing listens (10.0.0.1:6379)'],
    [{ code: 'ENOTFOUND', hostname: 'redis' }, 'no machine has that name (redis)'],
    [{ code: 'EAI_AGAIN', hostname: 'redis' }, 'the name cannot be looked up now (redis)'],
    [{ code: 'EHOSTUNREACH', address: '10.0.0.1', port: 6379 }, 'no way leads there (10.0.0.1:6379)'],
    [{ code: 'ECONNRESET' }, 'the connection was broken'],
    [{ code: 'EPIPE' }, 'the connection was broken'],
  ])('says of %j what to do, without a code of the system', (members, reason) => {
    const error = Object.assign(new Error(`connect ${members.code}`), members)
    expect(refusalOf(error, [])).toBe(`cannot be reached: ${reason}; start Redis there, or correct store.url`)
  })

  const info = (fields: Readonly<Record<string, string>>) =>
    Object.entries({ redis_version: '7.0.15', role: 'master', maxmemory: '0', maxmemory_policy: 'noeviction', ...fields })
      .map(([name, value]) => `${name}:${value}\r\n`)
      .join('')

  it.each([
    ['a fit one', {}, undefined],
    ['a newer one', { redis_version: '8.2.1' }, undefined],
    ['one without a bound of memory', { maxmemory_policy: 'allkeys-lru' }, undefined],
    ['an old one', { redis_version: '6.2.14' }, 'is Redis 6.2.14, but Crosswalk needs Redis 7 or Valkey 7.2'],
    ['a replica', { role: 'slave' }, 'is a replica that can only be read: store.url must name the primary, or the Sentinels'],
    [
      'one that forgets',
      { maxmemory: '100', maxmemory_policy: 'volatile-lru' },
      'forgets keys when its memory is full (maxmemory-policy volatile-lru): evidence would be lost in silence. Set it to noeviction',
    ],
  ])('judges a Redis by its INFO: %s', (_, fields, sentence) => {
    expect(unfitness(info(fields))).toBe(sentence)
  })
})

describe('store address', () => {
  const redis = (host: string, port: number, more: object = {}) => ({
    ...{ carrier: 'redis', hosts: [{ host, port }], isTls: false, database: 0 },
    ...more,
  })

  it.each([
    ['file:/var/lib/crosswalk/store', { carrier: 'file', path: '/var/lib/crosswalk/store' }],
    ['file:store.json', { carrier: 'file', path: 'store.json' }],
    ['redis://redis', redis('redis', 6379, { shown: 'redis://redis' })],
    ['redis://[::1]:7000/', redis('::1', 7000, { shown: 'redis://[::1]:7000' })],
    [
      'rediss://u%40x:p%3Ay:z@h:7000/3',
      { ...redis('h', 7000, { shown: 'rediss://h:7000/3', username: 'u@x', password: 'p:y:z' }), isTls: true, database: 3 },
    ],
    ['redis://:secret@h', redis('h', 6379, { shown: 'redis://h', password: 'secret' })],
    [
      'redis+sentinel://:secret@a,b:7000/main/2',
      {
        ...{
          carrier: 'redis',
          shown: 'redis+sentinel://a,b:7000/main/2',
          sentinelName: 'main',
          isTls: false,
          database: 2,
          password: 'secret',
        },
        hosts: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 7000 },
        ],
      },
    ],
    ['rediss+sentinel://a/main', redis('a', 26_379, { shown: 'rediss+sentinel://a/main', sentinelName: 'main', isTls: true })],
  ])('reads the store URL %s', (url, address) => {
    expect(readStoreUrl(url)).toEqual(address)
  })

  it.each([
    '',
    'file:',
    'redis:',
    'redis://',
    'redis://:secret@',
    'redis://secret@a,b',
    'redis://a:99999',
    'redis://a/x',
    'redis://a/1/2',
    'redis+sentinel://secret@a',
    'http://secret@a',
    'redis://:secret@a?x',
    'redis://a:secret',
    'redis://a/%zz',
    'redis://%zz@a',
  ])('refuses the store URL "%s" with a sentence that does not quote it', (url) => {
    const refused = (() => {
      try {
        return readStoreUrl(url)
      } catch (error) {
        return (error as Error).message
      }
    })()
    expect(refused).toMatch(/^store\.url must be file:PATH, redis:\/\/HOST/)
    expect(refused).not.toContain('secret')
  })
})

describe('store settings', () => {
  const load = (flags: Readonly<Record<string, string>>) => loadConfig({ flags, env: {} })

  it.each(['redis://secret@a,b', 'redis://:secret@a:99999', 'redis://:secret@a/x', 'redis+sentinel://:secret@a', 'redis://:secret@', 'a'])(
    'refuses the malformed store URL %s among the settings, and does not quote it',
    (url) => {
      const loaded = load({ 'store-url': url })
      expect(loaded).toEqual({ problem: expect.stringMatching(/^store\.url in the flag --store-url must be an address such as file:PATH/) })
      expect(JSON.stringify(loaded)).not.toContain('secret')
    },
  )

  it.each(['file:store', 'redis://h', 'rediss://u:p@h:1/2', 'redis+sentinel://a,b/name'])('takes the store URL %s', (url) => {
    expect(load({ 'store-url': url })).toMatchObject({ config: { 'store.url': url } })
  })

  it.each([
    [{ 'store-url': 'file:./a', 'store-cache': 'a' }, 'store.cache names the file of store.url'],
    [{ 'store-url': 'file:a', 'records-file': 'a' }, 'records.file names the file of store.url'],
    [{ 'store-cache': 'a', 'records-file': 'a' }, 'records.file names the file of store.cache'],
    [{ 'tls-key': 'a' }, 'tls.key and tls.cert go together'],
  ])('refuses settings that the start would refuse later: %j', (flags, sentence) => {
    expect(load(flags as Readonly<Record<string, string>>)).toEqual({ problem: expect.stringContaining(sentence) })
  })
})
