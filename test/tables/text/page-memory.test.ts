import { describe, expect, it } from 'vitest'
import { ARRIVED_MEMORY, ROWS_MEMORY } from '../../../src/tables/text/engine.ts'

const KIB = 1024

describe('the memory of pages', () => {
  it('is used again once it was given back, also by a part of it', () => {
    const first = ROWS_MEMORY.take(60 * KIB)
    ROWS_MEMORY.give(first.subarray(100))
    const second = ROWS_MEMORY.take(40 * KIB)
    expect(second.buffer).toBe(first.buffer)
    expect(second).toHaveLength(40 * KIB)
    expect(ROWS_MEMORY.take(60 * KIB).buffer).not.toBe(first.buffer)
  })

  it('is lent once, even if it was given back twice', () => {
    const memory = ROWS_MEMORY.take(60 * KIB)
    ROWS_MEMORY.give(memory)
    ROWS_MEMORY.give(memory)
    expect(ROWS_MEMORY.take(60 * KIB).buffer).not.toBe(ROWS_MEMORY.take(60 * KIB).buffer)
  })

  it('takes nothing that came from elsewhere', () => {
    const foreign = [Buffer.allocUnsafeSlow(64 * KIB), ARRIVED_MEMORY.take(60 * KIB), ROWS_MEMORY.take(300 * KIB)]
    for (const bytes of foreign) ROWS_MEMORY.give(bytes)
    const taken = [60, 60, 300].map((size) => ROWS_MEMORY.take(size * KIB).buffer)
    for (const { buffer } of foreign) expect(taken).not.toContain(buffer)
  })

  it('waits for its next use up to a bound', () => {
    const many = Array.from({ length: 100 }, () => ROWS_MEMORY.take(64 * KIB))
    for (const one of many) ROWS_MEMORY.give(one)
    const known = new Set(many.map(({ buffer }) => buffer))
    const again = Array.from({ length: 100 }, () => ROWS_MEMORY.take(64 * KIB))
    expect(again.filter(({ buffer }) => known.has(buffer)).length).toBeLessThanOrEqual(64)
  })
})
