import { expect, it } from 'vitest'
import { createHolding, createRoom } from '../../src/serve/bounds.ts'

it('grows within the room, and goes back whole', () => {
  const room = createRoom(100)
  const [a, b] = [createHolding(room), createHolding(room)]
  expect([a.reach(40), a.reach(30), a.reach(60), b.reach(50), b.reach(40)]).toEqual([true, true, true, false, true])
  a.release()
  a.release()
  expect([a.reach(1), b.reach(100), b.reach(101)]).toEqual([false, true, false])
})
