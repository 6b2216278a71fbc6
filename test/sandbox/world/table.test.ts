import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Row } from '../../../src/sandbox/world/model.ts'
import {
  createRandom,
  createTable,
  isAtOrBelow,
  isBelow,
  lineage,
  newUid,
  parentOf,
  rootOf,
  validUid,
} from '../../../src/sandbox/world/store.ts'

type Named = Row & { readonly name: string }

const segment = fc.constantFrom('0', '1', 'f')
const uid = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map((parts) => [parts[0]!.repeat(40), ...parts.slice(1).map((part) => part.repeat(16))].join('/'))
const step = fc.record({ uid, name: fc.constantFrom('a', 'b'), remove: fc.boolean(), read: fc.boolean() })

describe('uids (semantics §1)', () => {
  test('have the documented form and lie below their parent', () => {
    const random = createRandom(7)
    const root = newUid(random)
    const child = newUid(random, root)
    expect([root, child].every(validUid)).toBe(true)
    expect([parentOf(root), parentOf(child), rootOf(child)]).toEqual(['', root, root])
    expect([isBelow(root, child), isBelow(root, root), isAtOrBelow(root, root), isBelow(root, `${root}0`)]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect(lineage(`${child}/x`)).toEqual([`${child}/x`, child, root])
  })

  test('are the same for the same seed', () => {
    expect(newUid(createRandom(3))).toBe(newUid(createRandom(3)))
    expect(newUid(createRandom(3))).not.toBe(newUid(createRandom(4)))
  })

  test.each(['', '/', 'A'.repeat(40), '0'.repeat(39), `${'0'.repeat(40)}/`, `${'0'.repeat(40)}/${'0'.repeat(15)}`])(
    '%j is none',
    (text) => {
      expect(validUid(text)).toBe(false)
    },
  )
})

test('answers like a plain list after any sequence of writes', () => {
  fc.assert(
    fc.property(fc.array(step), uid, (steps, probe) => {
      const table = createTable<Named>()
      const plain = new Map<string, Named>()
      for (const { remove, read, ...row } of steps) {
        if (read) table.values()
        if (remove) expect(table.delete(row.uid)).toBe(plain.delete(row.uid))
        else {
          table.put(row)
          plain.set(row.uid, row)
        }
      }
      const rows = [...plain.values()].sort((left, right) => (left.uid < right.uid ? -1 : 1))
      expect(table.values()).toEqual(rows)
      expect(table.size()).toBe(rows.length)
      expect(table.get(probe)).toEqual(plain.get(probe))
      expect(table.below(probe)).toEqual(rows.filter((row) => isBelow(probe, row.uid)))
      expect(table.children(probe)).toEqual(rows.filter((row) => parentOf(row.uid) === probe))
      expect(table.children('')).toEqual(rows.filter((row) => parentOf(row.uid) === ''))
      expect(table.named(probe, 'a')).toEqual(rows.filter((row) => parentOf(row.uid) === probe && row.name === 'a'))
    }),
  )
})

test('keeps derived results until the next write', () => {
  const table = createTable<Named>()
  let made = 0
  const count = () => table.derived('count', () => ++made)
  expect([count(), count()]).toEqual([1, 1])
  table.put({ uid: '0'.repeat(40), name: 'a' })
  expect(count()).toBe(2)
})
