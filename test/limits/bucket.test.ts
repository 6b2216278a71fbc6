import { expect, it } from 'vitest'
import { createBucket } from '../../src/serve/bounds.ts'

it('allows as many at once as it holds, and then an even rate', () => {
  let now = 5
  const bucket = createBucket({ most: 4, fillMs: 1000 }, () => now)
  const taken = (times: number) => Array.from({ length: times }, () => bucket.take()).filter(Boolean).length
  expect([taken(10), bucket.wait()]).toEqual([4, 250])
  now += 100
  expect([taken(1), bucket.wait()]).toEqual([0, 150])
  now += 150
  expect([bucket.wait(), taken(10)]).toEqual([0, 1])
  now += 60_000
  expect(taken(10)).toBe(4)
})

it('allows nothing if it holds nothing', () => {
  let now = 0
  const bucket = createBucket({ most: 0, fillMs: 1000 }, () => now)
  now += 60_000
  expect(bucket.take()).toBe(false)
})
