import { describe, expect, it } from 'vitest'
import { createComparisonsPart, KEPT_COMPARISONS, MOST_ALIKE } from '../../../src/fleet/comparisons.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import type { Store } from '../../../src/fleet/store/store.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'

let made = 0

function mismatch(given: Partial<Comparison> = {}): Comparison {
  const id = `c${++made}`
  return {
    ...{ kind: 'comparison', id, at: new Date(made).toISOString(), operation: 'iam.roles.list', mode: 'diff-v1', caller: 'a', shape: 's' },
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
    part.lost?.(1)
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

describe('the comparisons of a fleet', () => {
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
