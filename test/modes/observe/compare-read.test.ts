import { describe, expect, it } from 'vitest'
import { createEvidence, type OperationEvidence } from '../../../src/migrate/evidence/evidence.ts'
import { type Ask, compareRead } from '../../../src/migrate/observe/compare-read.ts'
import { createOtherReplicas, createV1Refusals } from '../../../src/migrate/observe/observe.ts'
import { Firing } from '../../../src/serve/signals.ts'
import { asked, child, compare, court, seen } from '../../diff/given.ts'
import { seeded } from '../../stage/seeded.ts'

const ID = 'registry.repos.list'
const { operation, request } = asked(ID)
const OLD = '2026-01-01T00:00:00Z'
const row = (nth: number, members: object = {}) => ({ id: child(nth), name: 'a', created_at: OLD, updated_at: OLD, ...members })
const rows = (count: number) => Array.from({ length: count }, (_, nth) => row(nth))

interface Sides {
  /** The rows of the next answer. */
  readonly v1: () => readonly object[]
  readonly v2: () => readonly object[]
}

/** Two services without any network, and what reading them through `compareRead` says. */
function stage(sides: Sides, by: 'v1' | 'v2') {
  const { judge, settle, noise, expected } = court()
  const evidence = createEvidence(() => 0)
  const counts = { v1: 0, v2: 0 }
  const ask: Ask = async (side) => {
    counts[side] += 1
    return { seen: seen({ items: sides[side]() }), ms: 1 }
  }
  const judging = {
    compare,
    judge,
    wants: expected.wants,
    settle,
    noise,
    others: createOtherReplicas(),
    refusals: createV1Refusals(),
    now: () => 0,
  }
  const raw = { id: '', method: 'GET', url: '/registry/v1/repos', headers: {}, body: undefined }
  let reads = 0
  return {
    noise,
    counts,
    /** Makes this many reads, each of its own caller, and returns the evidence so far. */
    async read(times: number): Promise<OperationEvidence> {
      for (let nth = 0; nth < times; nth++) {
        const first = await ask(by, { operation, raw, read: () => request }, new Firing())
        const read = { operation, raw, read: () => request, by, since: 0, first, wrote: () => false, learn: false }
        const { judgement } = await compareRead(read, ask, judging, new Firing())
        evidence.observe({ operation: ID, caller: String(reads++), shape: '', outcome: judgement.outcome })
      }
      return evidence.of(ID)!
    },
  }
}

const BOTH = [['v1'], ['v2']] as const

describe.each(BOTH)('reads that %s answers first', (by) => {
  it('count each row that v2 leaves out of one answer in ten', async () => {
    const random = seeded(15)
    const sides = { v1: () => rows(5), v2: () => rows(random() < 0.1 ? 4 : 5) }
    const { transients, mismatches, races, bound } = await stage(sides, by).read(200)
    expect(races).toBe(0)
    expect(transients + mismatches).toBeGreaterThan(10)
    expect(transients).toBeGreaterThan(mismatches)
    expect(bound).toBeGreaterThan(0.1)
  })

  it('learn in a few reads that a set comes in any order', async () => {
    const random = seeded(15)
    const set = () =>
      ['a', 'b', 'c', 'd']
        .map((text) => [random(), text] as const)
        .sort()
        .map(([, text]) => text)
    const sides = { v1: () => [row(1, { bundles: set() })], v2: () => [row(1, { bundles: ['a', 'b', 'c', 'd'] })] }
    const { read, noise } = stage(sides, by)
    const { mismatches, transients } = await read(230)
    expect({ mismatches, transients }).toEqual({ mismatches: 0, transients: 0 })
    expect(noise.members()).toMatchObject([{ kind: 'order', where: '/items/*/bundles' }])
  })

  it('learn in fifty reads what moves together with a time of writing', async () => {
    const { read, noise } = stage({ v1: moving(), v2: () => [row(1, { readme: '0' })] }, by)
    expect(await read(50)).toMatchObject({ mismatches: 0, transients: 0, noise: 40 })
    expect(
      noise
        .members()
        .map(({ where }) => where)
        .sort(),
    ).toEqual(['/items/*/readme', '/items/*/updated_at'])
  })

  it.each([
    ['another member is always wrong', () => [row(1, { name: 'b' })]],
    ['the row is always lost', () => []],
  ])('find in a row that moves by itself that %s', async (_, v2) => {
    const { read } = stage({ v1: moving(), v2 }, by)
    const { mismatches } = await read(20)
    expect(await read(20)).toMatchObject({ mismatches: mismatches + 20 })
  })

  it('forget in fifty reads what has stopped', async () => {
    let v1: Sides['v1'] = moving()
    const { read, noise } = stage({ v1: () => v1(), v2: () => [row(1, { readme: 'wrong' })] }, by)
    await read(50)
    v1 = () => [row(1, { readme: 'right' })]
    const before = await read(50)
    expect(noise.members()).toEqual([])
    expect(await read(10)).toMatchObject({ mismatches: before.mismatches + 10 })
  })

  it('ask no more of the two sides than three times while rows come and go', async () => {
    let next = 100
    const { read, counts } = stage({ v1: () => rows(2), v2: () => [...rows(2), row(next++, { created_at: '1970-01-01T00:00:00Z' })] }, by)
    expect(await read(1)).toMatchObject({ races: 1, mismatches: 0, transients: 0 })
    expect(counts).toEqual({ v1: 5, v2: 4 })
  })
})

/** A row with a counter and a time of writing that both move with every answer. */
function moving(): Sides['v1'] {
  let count = 0
  return () => {
    count += 1
    return [row(1, { readme: String(count), updated_at: new Date(count).toISOString() })]
  }
}
