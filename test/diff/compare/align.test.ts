import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { align, canonical } from '../../../src/migrate/compare/compare.ts'

const rows = fc.array(fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') }), { maxLength: 8 })
const values = fc.array(fc.constantFrom<unknown>(1, 2, 'x', null, { a: 1, b: 2 }), { maxLength: 8 })

describe('align', () => {
  it('uses every row of both lists exactly once', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(rows, rows), fc.tuple(values, values)), ([v1, v2]) => {
        const { pairs } = align(v1, v2, undefined)
        const indices = (side: 'v1' | 'v2') => pairs.flatMap((pair) => pair[side] ?? []).sort((a, b) => a - b)
        expect(indices('v1')).toEqual(v1.map((_, at) => at))
        expect(indices('v2')).toEqual(v2.map((_, at) => at))
      }),
    )
  })

  it('finds only a different order in a shuffled list', () => {
    fc.assert(
      fc.property(rows, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (v1, random) => {
        const keyed = v1.map((row) => ({ row, by: random.next().value as number }))
        const v2 = keyed.sort((a, b) => a.by - b.by).map(({ row }) => row)
        const { pairs, order } = align(v1, v2, 'id')
        expect(pairs.every((pair) => pair.v1 !== undefined && pair.v2 !== undefined)).toBe(true)
        expect(order === undefined).toBe(v1.every((row, at) => row.id === v2[at]?.id))
      }),
    )
  })

  it('falls back to equality when a row has no id', () => {
    const { pairs } = align([{ id: 'a' }, {}], [{}, { id: 'a' }], 'id')
    expect(pairs.map(({ v1, v2 }) => [v1, v2])).toEqual([
      [0, 1],
      [1, 0],
    ])
  })
})

describe('canonical', () => {
  it('gives the same text for members in any order, and another for other values', () => {
    expect(canonical({ a: [1, { c: null, b: '"' }] })).toBe(canonical({ a: [1, { b: '"', c: null }] }))
    expect(canonical({ a: 1 })).not.toBe(canonical({ a: '1' }))
  })
})
