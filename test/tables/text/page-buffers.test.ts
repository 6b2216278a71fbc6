import { expect, it } from 'vitest'
import { giveBack, takeBuffer } from '../../../src/tables/text/page-buffers.ts'

it('lends the memory again that was given back, also by a part of the buffer', () => {
  const first = takeBuffer(60_000)
  giveBack(first.subarray(1))
  const second = takeBuffer(50_000)
  expect(second.buffer).toBe(first.buffer)
  expect(second.length).toBe(50_000)
})

it('lends no memory twice, even if it is given back twice', () => {
  const first = takeBuffer(60_000)
  giveBack(first)
  giveBack(first)
  expect(takeBuffer(60_000).buffer).not.toBe(takeBuffer(60_000).buffer)
})

it('lends nothing that is too small', () => {
  giveBack(takeBuffer(20_000))
  const large = takeBuffer(200_000)
  large.fill(7)
  expect(large.length).toBe(200_000)
})

it('keeps neither foreign buffers nor large ones', () => {
  const foreign = Buffer.alloc(60_000)
  const large = takeBuffer(1_000_000)
  giveBack(foreign)
  giveBack(large)
  const lent = [takeBuffer(60_000), takeBuffer(1_000_000)]
  expect(lent.map(({ buffer }) => buffer)).not.toContain(foreign.buffer)
  expect(lent.map(({ buffer }) => buffer)).not.toContain(large.buffer)
})
