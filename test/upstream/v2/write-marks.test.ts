import { expect, it } from 'vitest'
import { createWriteMarks } from '../../../src/serve/upstream/send.ts'

it('renames a caller during a write, after it, and after each further one', () => {
  const { nameOf, begin } = createWriteMarks()
  const names = [nameOf('a')]
  const over = begin('a')
  names.push(nameOf('a'))
  over(true)
  names.push(nameOf('a'))
  begin('a')(true)
  names.push(nameOf('a'))
  expect(new Set(names).size).toBe(4)
  expect(nameOf('b')).toBe('b')
})

it('ignores a refused write, whatever else is in flight', () => {
  const { nameOf, begin } = createWriteMarks()
  begin('a')(false)
  expect(nameOf('a')).toBe('a')
  const [refused, done] = [begin('a'), begin('a')]
  done(true)
  refused(false)
  expect(nameOf('a')).not.toBe('a')
})

it('never gives an older name back when a write is forgotten', () => {
  const { nameOf, begin } = createWriteMarks(2)
  const old = [nameOf('a')]
  for (let nth = 0; nth < 5; nth += 1) {
    begin('a')(true)
    for (const other of ['b', 'c', 'd']) begin(other)(true)
    expect(old).not.toContain(nameOf('a'))
    old.push(nameOf('a'))
  }
})

it('keeps no place for refused writers', () => {
  const { nameOf, begin } = createWriteMarks(1)
  begin('a')(true)
  const name = nameOf('a')
  for (let nth = 0; nth < 10; nth += 1) begin(`forged-${nth}`)(false)
  expect([nameOf('a'), nameOf('b')]).toEqual([name, 'b'])
})
