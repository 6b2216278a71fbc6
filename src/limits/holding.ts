import type { Room } from './room.ts'

/** What one user holds of a room: it grows bit by bit, and goes back whole. */
export interface Holding {
  /** Makes it this large at least. Returns false, and changes nothing, if the room has not so much left, or if it went back already. */
  reach(size: number): boolean
  /** Gives all of it back. Later calls have no effect. */
  release(): void
}

export function createHolding(room: Room): Holding {
  let held = 0
  let isOver = false
  return {
    reach(size) {
      if (size <= held) return true
      if (isOver || !room.take(size - held)) return false
      held = size
      return true
    },
    release() {
      isOver = true
      room.give(held)
      held = 0
    },
  }
}
