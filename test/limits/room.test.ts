import { expect, it } from 'vitest'
import { createRoom } from '../../src/serve/bounds.ts'

it('grants what is left, and again what was returned', () => {
  let refused = 0
  const room = createRoom(10, () => {
    refused += 1
  })
  expect([room.take(6), room.take(5), room.take(4), room.take(1)]).toEqual([true, false, true, false])
  room.give(4)
  expect([room.take(5), room.take(4), refused]).toEqual([false, true, 3])
})
