import { expect, it } from 'vitest'
import { askedPause, pauseAfter } from '../../src/admin/notify.ts'

it('doubles from one second to five minutes', () => {
  expect([1, 2, 3, 8, 9, 10, 5000].map((failures) => pauseAfter(failures, () => 0))).toEqual([
    1000, 2000, 4000, 128_000, 256_000, 300_000, 300_000,
  ])
})

it('is shortened by up to a half at random', () => {
  expect([0, 0.5, 0.99].map((chance) => pauseAfter(1, () => chance))).toEqual([1000, 750, 505])
})

it.each([
  ['120', 120_000],
  ['Thu, 01 Jan 1970 00:00:20 GMT', 10_000],
  ['Thu, 01 Jan 1970 00:00:05 GMT', 0],
  ['86400', 3_600_000],
  ['-1', 0],
  ['1.5 hours', 0],
  [undefined, 0],
])('reads what a receiver asks for: %j', (header, ms) => {
  expect(askedPause(header, 10_000)).toBe(ms)
})
