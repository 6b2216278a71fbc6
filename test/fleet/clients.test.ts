import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createClientReader, createClientsPart } from '../../src/fleet/clients.ts'
import { createComparisonsPart, KEPT_COMPARISONS, MOST_ALIKE } from '../../src/fleet/comparisons.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import { type Client, createInventory, withoutRequests } from '../../src/migrate/clients.ts'
import type { Comparison, Entry, TrafficEntry } from '../../src/migrate/records/record.ts'
import { restore } from '../../src/migrate/records/record-file.ts'
import { operations } from '../migrate/given.ts'
import { comparisonOf } from './evidence-replica.ts'

describe('the clients of a fleet', () => {
  const OPERATIONS = ['iam.roles.list', 'registry.repos.list', 'registry.vuln_reports.list', 'unknown GET /a b/{id}']
  const AT = Date.UTC(2026, 10, 23)

  /** A replica that tells a store of entries. */
  function replicaOf(id: string, store: Store, limit = 100) {
    let nth = 0
    const part = createClientsPart({
      ...{ nth: 0, limit, flush: () => {}, soon: () => {}, timeOf: Date.parse },
      uncounted: (epoch, calls) => ({ kind: 'add', name: `traffic:${epoch}`, sums: { uncounted: calls } }),
    })
    const exchange = async () => {
      nth += 1
      const readings = part.readings()
      const batch = { replica: id, nth, changes: part.changes(), reads: readings.map(({ read }) => read), isUrgent: false }
      const found = await store.exchange(batch)
      for (const [at, one] of readings.entries()) one.take(found[at])
    }
    return { part, exchange }
  }

  const traffic = (entry: Partial<TrafficEntry>): TrafficEntry => {
    const use = { caller: 'c', operation: 'iam.roles.list', mode: 'v2', calls: 1, ...entry }
    return { kind: 'traffic', at: new Date(AT).toISOString(), ...use }
  }

  const kindOf = (shape: string) => ({ shape, path: [['id', shape] as const], query: [['flag'] as const], members: ['name'] })

  const caller = fc.constantFrom('a1', 'b2', 'c3', 'd4').map((one) => ({ caller: one, ...(one !== 'd4' && { subject: `${one}@example` }) }))
  const common = { operation: fc.constantFrom(...OPERATIONS), at: fc.integer({ min: 0, max: 3_600_000 }) }
  const samples = fc.record({ shape: fc.constantFrom('s', 'iam?a=b\nc', 't'), samples: fc.integer({ min: 1, max: 5 }) })
  const calls = fc.record({
    ...{ ...common, caller, mode: fc.constantFrom('v1', 'v2', 'diff-v1'), calls: fc.integer({ min: 1, max: 9 }) },
    protocol: fc.constantFrom(undefined, 'grpc', 'connect'),
    agents: fc.constantFrom(undefined, ['curl/8.5.0'], ['curl/8.5.0', 'okhttp']),
    requests: fc.uniqueArray(samples, { maxLength: 2, selector: ({ shape }) => shape }),
  })
  const total = fc.record({
    kind: fc.constantFrom('value' as const, 'missing' as const),
    where: fc.constantFrom('/a', '/b/*\nc'),
    count: fc.integer({ min: 1, max: 3 }),
    code: fc.constantFrom(undefined, 'code'),
    noise: fc.constantFrom(undefined, true as const),
  })
  const comparison = fc.record({
    ...{ ...common, caller, outcome: fc.constantFrom('mismatch' as const, 'expected' as const, 'match' as const, 'transient' as const) },
    totals: fc.uniqueArray(total, { maxLength: 3, selector: ({ kind, where, code }) => `${kind} ${where} ${code}` }),
  })

  const entry = fc.oneof(
    calls.map(({ caller: who, at, protocol, requests, agents, ...use }): Entry => {
      const kinds = requests.map((one) => ({ ...kindOf(one.shape), samples: one.samples }))
      const told = { ...(protocol !== undefined && { protocol }), ...(kinds.length > 0 && { requests: kinds }), ...(agents && { agents }) }
      return traffic({ ...who, ...use, ...told, at: new Date(AT + at).toISOString() })
    }),
    comparison.map(({ caller: who, at, operation, outcome, totals }): Entry => {
      const compared = comparisonOf({ ...who, operation, shape: `${operation}?`, outcome }, AT + at)
      const cleaned = totals.map(({ code, noise, ...one }) => ({ ...one, ...(code !== undefined && { code }), ...(noise && { noise }) }))
      return { ...compared, ...who, totals: cleaned } as Comparison
    }),
  )

  /** The order of what is equally frequent means nothing. */
  function ordered(clients: readonly Client[]): unknown {
    const sorted = <T>(items: readonly T[] | undefined) => items?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    const uses = (one: Client) =>
      one.operations.map((use) => ({ ...use, requests: sorted(use.requests), differences: sorted(use.differences) }))
    return sorted(
      clients.map((one) => ({ ...one, operations: sorted(uses(one)), blockers: sorted(one.blockers), cautions: sorted(one.cautions) })),
    )
  }

  async function toldTo(replicas: number, entries: readonly (readonly [entry: Entry, replica: number, isSent: boolean])[]) {
    const store = createMemory(() => AT).open()
    const all = Array.from({ length: replicas }, (_, nth) => replicaOf(`r${nth}`, store))
    for (const [one, replica, isSent] of entries) {
      const { part, exchange } = all[replica % replicas] as (typeof all)[number]
      part.entry(one)
      if (isSent) await exchange()
    }
    for (const { exchange } of all) await exchange()
    return createClientReader(store, operations)(0)
  }

  it.each([1, 2, 4])('are those of one inventory, whichever of %d replicas they reach', async (replicas) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(entry, fc.nat(3), fc.boolean()), { maxLength: 40 }), async (entries) => {
        const inventory = createInventory(operations)
        const [evidence, expected] = [{ observe: () => ({}), add: () => {} }, { count: () => {} }]
        for (const [one] of entries) restore(one, { inventory, evidence, expected } as never)
        const { clients, uncounted } = await toldTo(replicas, entries)
        expect(ordered(clients)).toEqual(ordered(inventory.clients()))
        expect(uncounted).toBe(0)
      }),
      { numRuns: 60 },
    )
  })

  it('are sorted by calls', async () => {
    const { clients } = await toldTo(2, [
      [traffic({ caller: 'few' }), 0, true],
      [traffic({ caller: 'many', calls: 5 }), 1, true],
    ])
    expect(clients.map(({ caller: one }) => one)).toEqual(['many', 'few'])
  })

  it('are bounded: the calls of later ones are counted together', async () => {
    const store = createMemory(() => AT).open()
    const [a, b] = [replicaOf('a', store, 2), replicaOf('b', store, 2)]
    const use = (one: typeof a, name: string) => {
      one.part.entry(traffic({ caller: name }))
      return one.exchange()
    }
    for (const name of ['1', '2']) await use(a, name)
    await b.exchange()
    for (const name of ['3', '4', '1']) await use(b, name)
    await use(a, '1')
    await b.exchange()
    const { clients } = await createClientReader(store, operations)(0)
    expect(clients.map(({ caller: one, calls: times }) => [one, times])).toEqual([
      ['1', 2],
      ['2', 1],
    ])
    const [found] = await store.read([{ kind: 'sums', name: 'traffic:0' }])
    expect(found?.value).toEqual({ uncounted: 3 })
  })

  it('belong to an epoch', async () => {
    const store = createMemory(() => AT).open()
    const { part, exchange } = replicaOf('a', store)
    part.entry(traffic({ caller: 'old', subject: 'alice' }))
    part.begin(1)
    part.entry(traffic({ caller: 'old', subject: 'alice', calls: 2 }))
    await exchange()
    const read = createClientReader(store, operations)
    const found = [await read(0), await read(1)].map(({ clients }) => clients.map(withoutRequests))
    expect(found).toMatchObject([[{ subject: 'alice', calls: 1 }], [{ subject: 'alice', calls: 2 }]])
  })

  it('keep their names and kinds of requests when the store has lost them', async () => {
    const [before, after] = [createMemory(() => AT).open(), createMemory(() => AT).open()]
    let store = before
    const { part, exchange } = replicaOf('a', { ...before, exchange: (batch) => store.exchange(batch) })
    const one = traffic({ caller: 'c', subject: 'alice', requests: [{ ...kindOf('s'), samples: 1 }] })
    part.entry(one)
    await exchange()
    store = after
    part.lost()
    part.entry(one)
    await exchange()
    const { clients } = await createClientReader(after, operations)(0)
    expect(clients).toMatchObject([{ subject: 'alice', operations: [{ requests: [{ shape: 's', path: [['id', 's']] }] }] }])
  })

  it('are read again only as far as they changed', async () => {
    const store = createMemory(() => AT).open()
    const { part, exchange } = replicaOf('a', store)
    for (const name of ['a', 'b', 'c']) part.entry(traffic({ caller: name }))
    await exchange()
    let found = 0
    const reader = createClientReader(
      {
        async read(reads) {
          const answers = await store.read(reads)
          found += answers.filter((one) => one && one.stamp > 0).length
          return answers
        },
      },
      operations,
    )
    const first = await reader(0)
    found = 0
    part.entry(traffic({ caller: 'b' }))
    await exchange()
    const second = await reader(0)
    expect(found).toBe(1)
    expect([first, second].map(({ clients }) => clients.map(({ calls: times }) => times))).toEqual([
      [1, 1, 1],
      [2, 1, 1],
    ])
  })
})

describe('the comparisons of a fleet', () => {
  let made = 0

  function mismatch(given: Partial<Comparison> = {}): Comparison {
    const id = `c${++made}`
    return {
      ...{
        kind: 'comparison',
        id,
        at: new Date(made).toISOString(),
        operation: 'iam.roles.list',
        mode: 'diff-v1',
        caller: 'a',
        shape: 's',
      },
      ...{ check: 'read', outcome: 'mismatch', totals: [{ kind: 'value', where: `/${id}`, count: 1 }], examples: [], v2: { status: 200 } },
      ...given,
    } as Comparison
  }

  /** A replica that shares comparisons, and `heard`: the ids that it heard of. */
  function replicaOf(id: string, initial: Store, now = () => 0) {
    let nth = 0
    let store = initial
    const read: Store['read'] = (reads) => store.read(reads)
    const part = createComparisonsPart({ id, store: { read }, memory: 100, soon: () => {}, now })
    const heard: string[] = []
    part.onRead((one) => void heard.push(one.id))
    const exchange = async () => {
      nth += 1
      await store.exchange({ replica: id, nth, changes: part.changes(), reads: [], isUrgent: false })
    }
    const move = (to: Store) => {
      store = to
      part.lost()
    }
    return { part, heard, exchange, move }
  }

  function two(now?: () => number) {
    const memory = createMemory(() => 0)
    return { memory, a: replicaOf('a', memory.open(), now), b: replicaOf('b', memory.open(), now) }
  }

  async function record({ part, exchange }: ReturnType<typeof replicaOf>, ...entries: readonly Comparison[]): Promise<void> {
    for (const entry of entries) part.entry(entry)
    await exchange()
  }

  it('reach each other replica once, newest first', async () => {
    const { a, b } = two()
    const [first, second] = [mismatch({ replica: 'a' }), mismatch({ replica: 'a', operation: 'iam.users.list' })]
    await record(a, first, second, mismatch({ outcome: 'match' }))
    await record(b, mismatch({ replica: 'b' }))
    for (const one of [a, b, b]) await one.part.read()
    expect([a.heard, b.heard]).toEqual([[expect.any(String)], [first.id, second.id]])
    expect(b.part.others({ limit: 9 })).toEqual([second, first])
    expect(b.part.others({ limit: 9, operation: 'iam.roles.list' })).toEqual([first])
    expect(b.part.others({ limit: 1 })).toEqual([second])
  })

  it('are known to a new process, without what its records hold', async () => {
    const { memory, a } = two()
    const [first, second] = [mismatch(), mismatch()]
    await record(a, first, second)
    const c = replicaOf('c', memory.open())
    c.part.know(first)
    await c.part.read()
    expect(c.heard).toEqual([second.id])
    expect(c.part.changes()).toEqual([])
  })

  it('leave room for rare ones', async () => {
    let now = 0
    const { a, b } = two(() => now)
    const alike = () => mismatch({ totals: [{ kind: 'value', where: '/same', count: 1 }] })
    await record(a, ...Array.from({ length: 50 }, alike), mismatch())
    await b.part.read()
    expect(b.heard).toHaveLength(MOST_ALIKE + 1)
    now += 60_000
    await record(a, alike())
    await b.part.read()
    expect(b.heard).toHaveLength(MOST_ALIKE + 2)
  })

  it('are bounded in number while the store does not answer', async () => {
    const { a, b } = two()
    for (let nth = 0; nth < 2 * KEPT_COMPARISONS; nth++) a.part.entry(mismatch())
    for (let nth = 0; nth < 20; nth++) await a.exchange()
    await b.part.read()
    expect(b.heard).toHaveLength(KEPT_COMPARISONS)
    expect(b.heard.at(-1)).toBe(`c${made}`)
  })

  it('are bounded in size: what is needed least is left out', async () => {
    const { a, b } = two()
    const long = 'x'.repeat(15_000)
    const example = { kind: 'value', at: '/a', where: '/a', v1: 1 } as const
    const exhibit = { v1: { status: 200, body: long } } as never
    const around = { v1: long, v2: long } as never
    const endless = { ...example, v2: long + long }
    await record(a, mismatch({ exhibit }), mismatch({ examples: [{ ...example, around }] }), mismatch({ examples: [endless] }))
    await b.part.read()
    const examples = b.part.others({ limit: 9 }).map((one) => one.examples)
    expect(examples).toEqual([[], [example], []])
    expect(b.part.others({ limit: 9 }).some((one) => one.exhibit)).toBe(true)
  })

  it('are told again when the store has lost them', async () => {
    const { a } = two()
    const one = mismatch()
    await record(a, one)
    const other = createMemory(() => 0)
    a.move(other.open())
    await a.exchange()
    const c = replicaOf('c', other.open())
    await c.part.read()
    expect(c.heard).toEqual([one.id])
  })

  it('are skipped if another version of Crosswalk wrote them', async () => {
    const { memory, b } = two()
    const log = (text: string) => ({ kind: 'log', name: 'comparisons', text, items: 9 }) as const
    const changes = [log('{'), log('{"kind":"comparison","id":"1"}')]
    await memory.open().exchange({ replica: 'z', nth: 1, changes, reads: [], isUrgent: false })
    await b.part.read()
    expect(b.heard).toEqual([])
  })
})
