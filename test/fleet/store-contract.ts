import fc, { type Arbitrary } from 'fast-check'
import { expect, it } from 'vitest'
import type { Batch, Kinds, Store, StoreChange, StoreFound, StoreRead } from '../../src/fleet/store/store.ts'

/** Few names and fields, so that changes meet. Each kind of sums has names of its own. */
const FIELDS = fc.constantFrom('match', 'mismatch', '', 'é\n"')
const sums = fc.dictionary(
  FIELDS,
  fc.integer({ min: 0, max: 9 }).map((quarters) => quarters / 4),
  { maxKeys: 3 },
)
const name = fc.constantFrom('one', 'two')
const some = (most: number) => fc.integer({ min: 0, max: most })
/** Long, so that nothing is forgotten while a test runs. */
const HOUR = 3_600_000
const ms = fc.constantFrom(0, HOUR)
/** A time long ago is far from each claim of now. */
const BASE = 1_790_000_000_000

/** Any change. */
export const anyChange: Arbitrary<StoreChange> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), name, sums }),
  fc
    .record({ kind: fc.constantFrom('most' as const, 'least' as const), name, sums })
    .map((one) => ({ ...one, name: `${one.kind} ${one.name}` })),
  claim(some(4).map((minutes) => BASE + minutes * 30_000)),
  fc.record({
    kind: fc.constant('join' as const),
    name: name.map((one) => `join ${one}`),
    field: FIELDS,
    member: fc.constantFrom('a', 'b', 'c'),
    most: some(3),
  }),
  fc.record({ kind: fc.constant('draw' as const), name: name.map((one) => `draw ${one}`), amount: some(5), most: some(12) }),
  fc.record({ kind: fc.constantFrom('write' as const, 'mark' as const), name, field: FIELDS, text: fc.constantFrom('', 'a', 'b') }),
  fc.record({ kind: fc.constant('log' as const), name, text: fc.string({ maxLength: 3 }), items: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('lease' as const), name, ms }),
  fc.record({ kind: fc.constant('raise' as const), name, version: some(6), text: fc.constantFrom('a', 'b') }),
  fc.record({ kind: fc.constant('beat' as const), text: fc.string({ maxLength: 3 }), ms: fc.constant(HOUR) }),
)

/** A change whose effect is the same in whatever order batches arrive. */
export const anyOrder: Arbitrary<StoreChange> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), name, sums }),
  fc
    .record({ kind: fc.constantFrom('most' as const, 'least' as const), name, sums })
    .map((one) => ({ ...one, name: `${one.kind} ${one.name}` })),
  claim(fc.constant(BASE)).map((one) => ({ ...one, name: `claims of ${one.key}` })),
  fc.record({
    kind: fc.constant('join' as const),
    name: fc.constant('join'),
    field: FIELDS,
    member: fc.constantFrom('a', 'b', 'c', 'd'),
    most: fc.constant(3),
  }),
  fc.record({ kind: fc.constant('raise' as const), name, version: some(6) }).map((one) => ({ ...one, text: `of ${one.version}` })),
)

function claim(at: Arbitrary<number>): Arbitrary<Extract<StoreChange, { kind: 'claim' }>> {
  const key = fc.constantFrom('k', 'l', 'm')
  const [first, again] = [fc.constant({ n: 1 }), fc.constant({ repeats: 1, more: 0.5 })]
  return fc.record({ kind: fc.constant('claim' as const), key, at, ms: fc.constant(60_000), name, first, again })
}

/** Everything that random changes can have changed. */
export const PLACES: readonly (readonly [kind: keyof Kinds, name: string])[] = [
  ...['one', 'two', 'most one', 'most two', 'least one', 'least two', 'join', 'join one', 'join two', 'draw one', 'draw two'].map(
    (place) => ['sums', place] as const,
  ),
  ...['k', 'l', 'm'].map((key) => ['sums', `claims of ${key}`] as const),
  ...(['texts', 'log', 'lease', 'document'] as const).flatMap((kind) => [[kind, 'one'] as const, [kind, 'two'] as const]),
  ['replicas', ''],
]

/** One kind of store, as a test meets it. */
export interface Carried {
  /** Opens the shared store for one more replica. */
  open(): Promise<Store>
  /** Lets this many milliseconds pass for the store. */
  pass(ms: number): Promise<void>
}

/** A replica of a test: it counts its batches. */
export interface TestReplica {
  readonly store: Store
  send(...changes: StoreChange[]): Promise<void>
  ask<K extends keyof Kinds>(kind: K, name?: string, known?: number): Promise<StoreFound<K>>
  value<K extends keyof Kinds>(kind: K, name?: string): Promise<Kinds[K] | undefined>
}

/** Each test has names of its own, because all share one store. */
let tests = 0

export function replicaOf(store: Store, replica: string): TestReplica {
  let nth = 0
  const batch = (changes: readonly StoreChange[], reads: readonly StoreRead[]): Batch => ({
    replica,
    nth: ++nth,
    changes,
    reads,
    isUrgent: false,
  })
  const ask: TestReplica['ask'] = async (kind, name = '', known) => {
    const [found] = await store.exchange(batch([], [{ kind, name, ...(known !== undefined && { known }) }]))
    return found as StoreFound<typeof kind>
  }
  return {
    store,
    send: async (...changes) => void (await store.exchange(batch(changes, []))),
    ask,
    value: async (kind, name) => (await ask(kind, name))?.value,
  }
}

/** What every carrier keeps to. */
export function keepsTheContract(carried: Carried): void {
  const start = async () => {
    tests += 1
    const test = tests
    const one = replicaOf(await carried.open(), `a${test}`)
    const two = replicaOf(await carried.open(), `b${test}`)
    return { one, two, name: `name ${test}` }
  }

  it('adds to sums, and keeps the highest and the lowest', async () => {
    const { one, two, name } = await start()
    await one.send({ kind: 'add', name, sums: { match: 2, __proto__: 1, '': 1 } })
    await two.send({ kind: 'add', name, sums: { match: 3, 'ü \0 "': 0.25 } }, { kind: 'most', name, sums: { last: -5 } })
    await one.send({ kind: 'most', name, sums: { last: -9 } }, { kind: 'least', name, sums: { first: 9 } })
    await two.send({ kind: 'least', name, sums: { first: 7.5 } })
    expect(await one.value('sums', name)).toEqual({ match: 5, '': 1, 'ü \0 "': 0.25, last: -5, first: 7.5 })
  })

  it('adds once for a key that is claimed for about the same time', async () => {
    const { one, two, name } = await start()
    const key = `key of ${name}`
    const claim = (at: number) => ({ kind: 'claim', key, at, ms: 60_000, name, first: { n: 1 }, again: { repeats: 1 } }) as const
    const counts = () => one.value('sums', name)
    await one.send(claim(1_000_000), claim(1_000_000))
    await two.send(claim(1_059_999), claim(940_001))
    expect(await counts()).toEqual({ n: 1, repeats: 3 })
    await two.send(claim(1_060_000))
    await one.send(claim(1_000_001))
    expect(await counts()).toEqual({ n: 2, repeats: 4 })
    await one.send(claim(1_000_000))
    expect(await counts()).toEqual({ n: 3, repeats: 4 })
  })

  it('forgets a claim twice its time after it came', async () => {
    const { one, name } = await start()
    const claim = { kind: 'claim', key: `key of ${name}`, at: 7, ms: 100, name, first: { n: 1 }, again: { repeats: 1 } } as const
    await one.send(claim, claim)
    await carried.pass(250)
    await one.send(claim)
    expect(await one.value('sums', name)).toEqual({ n: 2, repeats: 1 })
  })

  it('counts each member of a set once, up to a maximum', async () => {
    const { one, two, name } = await start()
    const join = (member: string) => ({ kind: 'join', name, field: 'shapes', member, most: 3 }) as const
    await one.send(join('a'), join('b'), join('a'))
    await two.send(join('b'), join('c'), join('d'))
    expect(await one.value('sums', name)).toEqual({ shapes: 3 })
  })

  it('grants no more in all than a draw may take', async () => {
    const { one, two, name } = await start()
    const draw = (amount: number) => ({ kind: 'draw', name, amount, most: 10 }) as const
    await one.send(draw(4))
    await two.send(draw(4))
    await one.send(draw(4))
    await two.send(draw(1))
    const sums = await one.value('sums', name)
    expect(Object.values(sums ?? {})).toEqual([6, 4])
  })

  it('writes a text again, and marks it once', async () => {
    const { one, two, name } = await start()
    await one.send({ kind: 'write', name, field: 'w', text: 'one' }, { kind: 'mark', name, field: 'm', text: 'one' })
    await two.send({ kind: 'write', name, field: 'w', text: 'ü two' }, { kind: 'mark', name, field: 'm', text: 'two' })
    expect(await one.value('texts', name)).toEqual({ w: 'ü two', m: 'one' })
  })

  it('keeps the newest items of a log, and finds those that are newer', async () => {
    const { one, two, name } = await start()
    const log = (text: string) => ({ kind: 'log', name, text, items: 3 }) as const
    await one.send(log('1'), log('2'))
    const first = await two.ask('log', name)
    await two.send(log('3'), log('4'))
    const all = await one.value('log', name)
    expect(all?.map(({ text }) => text)).toEqual(['2', '3', '4'])
    const newer = await one.ask('log', name, first?.stamp)
    expect(newer?.value.map(({ text }) => text)).toEqual(['3', '4'])
    expect(newer?.value.every(({ replica, nth }) => replica.startsWith('b') && nth > (first?.stamp ?? 0))).toBe(true)
    expect(await one.ask('log', name, newer?.stamp)).toBeUndefined()
    // A log that came back older holds nothing new.
    expect((await one.ask('log', name, Number.MAX_SAFE_INTEGER))?.value).toEqual([])
  })

  it('gives a lease to one replica at a time', async () => {
    const { one, two, name } = await start()
    const lease = (ms: number) => ({ kind: 'lease', name, ms }) as const
    await one.send(lease(150))
    await two.send(lease(150))
    const held = await two.ask('lease', name)
    expect(held?.value).toMatch(/^a/)
    await one.send(lease(150))
    expect(await two.ask('lease', name, held?.stamp)).toBeUndefined()
    await carried.pass(200)
    expect(await two.value('lease', name)).toBeUndefined()
    await two.send(lease(10_000))
    expect(await one.value('lease', name)).toMatch(/^b/)
    await two.send(lease(0))
    await one.send(lease(10_000))
    const given = await one.ask('lease', name)
    expect(given?.value).toMatch(/^a/)
    await one.send(lease(0))
    await two.send(lease(10_000))
    expect((await one.ask('lease', name, given?.stamp))?.value).toMatch(/^b/)
  })

  it('replaces a document once for each version, and raises it to a higher one', async () => {
    const { one, two, name } = await start()
    expect((await one.ask('document', name))?.value).toEqual({ version: 0, text: '' })
    expect(await one.store.replace(name, 0, 'one')).toEqual({ isReplaced: true, document: { version: 1, text: 'one' } })
    const results = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? one : two).store.replace(name, 1, `try ${at}`)))
    const [winner, ...others] = results.filter(({ isReplaced }) => isReplaced)
    expect(others).toEqual([])
    expect(new Set(results.map(({ document }) => JSON.stringify(document)))).toEqual(new Set([JSON.stringify(winner?.document)]))
    await two.send({ kind: 'raise', name, version: 2, text: 'not higher' })
    expect((await one.value('document', name))?.text).toMatch(/^try/)
    await two.send({ kind: 'raise', name, version: 8, text: 'eight' })
    expect(await one.store.replace(name, 2, 'late')).toEqual({ isReplaced: false, document: { version: 8, text: 'eight' } })
  })

  it('lists the replicas that were heard of lately', async () => {
    const { one, two } = await start()
    await one.send({ kind: 'beat', text: 'a lives', ms: 10_000 })
    await two.send({ kind: 'beat', text: 'b lives', ms: 50 })
    const texts = async () => ((await one.value('replicas')) ?? []).map(({ text }) => text)
    expect(await texts()).toEqual(expect.arrayContaining(['a lives', 'b lives']))
    await carried.pass(100)
    expect(await texts()).not.toContain('b lives')
    const beat = (await one.value('replicas'))?.find(({ text }) => text === 'a lives')
    expect(beat?.agoMs).toBeGreaterThanOrEqual(100)
    expect(beat?.agoMs).toBeLessThan(10_000)
    await one.send({ kind: 'beat', text: '', ms: 0 })
  })

  it('applies a batch once that is sent twice, and answers it both times', async () => {
    const { one, name } = await start()
    const changes = [{ kind: 'add', name, sums: { n: 1 } }] as const
    const batch = { replica: `again ${name}`, nth: 7, changes, reads: [{ kind: 'sums', name }], isUrgent: false } as const
    const [first] = await one.store.exchange(batch)
    expect(await one.store.exchange(batch)).toEqual([first])
    expect(await one.store.exchange({ ...batch, nth: 6 })).toEqual([first])
    expect((await one.store.exchange({ ...batch, nth: 8 }))[0]?.value).toEqual({ n: 2 })
    // One store carries the batches of several replicas.
    expect((await one.store.exchange({ ...batch, replica: `other ${name}` }))[0]?.value).toEqual({ n: 3 })
  })

  it('finds nothing where nothing has changed, and an empty value where a name was forgotten', async () => {
    const { one, two, name } = await start()
    expect(await one.ask('texts', name)).toEqual({ stamp: 0, value: {} })
    await one.send({ kind: 'write', name, field: 'w', text: 'x', keepMs: 100 })
    const { stamp } = (await two.ask('texts', name)) ?? {}
    expect(await two.ask('texts', name, stamp)).toBeUndefined()
    expect(await two.ask('texts', name, Number.MAX_SAFE_INTEGER)).toEqual({ stamp, value: { w: 'x' } })
    await carried.pass(150)
    expect(await two.ask('texts', name, stamp)).toEqual({ stamp: 0, value: {} })
    await one.send({ kind: 'write', name, field: 'w', text: 'x' })
    expect((await two.ask('texts', name))?.stamp).toBeGreaterThan(stamp ?? 0)
  })

  it('reads without a batch', async () => {
    const { one, two, name } = await start()
    await one.send({ kind: 'add', name, sums: { n: 1 } }, { kind: 'beat', text: name, ms: 10_000 })
    const [sums, none] = await two.store.read([
      { kind: 'sums', name },
      { kind: 'sums', name, known: (await two.ask('sums', name))?.stamp ?? 0 },
    ])
    expect([sums?.value, none]).toEqual([{ n: 1 }, undefined])
    const [replicas] = await two.store.read([{ kind: 'replicas', name: '' }])
    expect(replicas?.value).toContainEqual(expect.objectContaining({ text: name }))
  })

  it('tells other replicas of an urgent batch and of a new document', async () => {
    const { one, two, name } = await start()
    const urgent = { replica: `urgent ${name}`, changes: [], reads: [], isUrgent: true }
    const news = (tell: () => Promise<unknown>) =>
      new Promise<string>((resolve, reject) => {
        one.store.onNews(() => resolve('one'))
        two.store.onNews(() => resolve('two'))
        tell().catch(reject)
      })
    expect(await news(() => one.store.exchange({ ...urgent, nth: 1 }))).toBe('two')
    expect(await news(() => one.store.replace(name, 0, ''))).toBe('two')
  })

  it('refuses everything when it is closed', async () => {
    const { one, two, name } = await start()
    await one.store.close()
    const down = expect.objectContaining({ name: 'StoreDown' })
    await expect(one.send()).rejects.toEqual(down)
    await expect(one.store.read([{ kind: 'sums', name }])).rejects.toEqual(down)
    await expect(one.store.replace(name, 0, '')).rejects.toEqual(down)
    await expect(two.send()).resolves.toBeUndefined()
  })
}
