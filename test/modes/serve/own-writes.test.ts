import { expect, it } from 'vitest'
import { createOwnWrites } from '../../../src/migrate/modes/serve.ts'

it('reports a write that was under way at any time since the call, and no other', () => {
  const { begin, watch } = createOwnWrites()
  begin('a')()
  const quiet = watch('a')
  expect(quiet()).toBe(false)
  begin('b')()
  expect(quiet()).toBe(false)
  const end = begin('a')
  const during = watch('a')
  end()
  end()
  expect([quiet(), during(), watch('a')()]).toEqual([true, true, false])
})

it('drops the oldest writer, and then assumes a write rather than none', () => {
  const { begin, watch } = createOwnWrites(2)
  const before = watch('a')
  for (const writer of ['a', 'b', 'c', 'd']) begin(writer)()
  expect([before(), watch('a')()]).toEqual([true, false])
})

it('keeps a caller while its write is under way, however many others come', () => {
  const { begin, watch } = createOwnWrites(2)
  const end = begin('a')
  for (let nth = 0; nth < 10; nth += 1) begin(`other-${nth}`)()
  const during = watch('a')
  end()
  expect(during()).toBe(true)
})

it('does not store readers, so that they displace no writer', () => {
  const { begin, watch } = createOwnWrites(2)
  const before = watch('a')
  for (let nth = 0; nth < 10; nth += 1) watch(`reader-${nth}`)
  expect(before()).toBe(false)
  begin('a')()
  expect(before()).toBe(true)
})
