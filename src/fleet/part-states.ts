import type { PartState } from './part.ts'

/** What a part says that never waits. */
export const NOTHING: PartState = { waiting: 0, dropped: 0, lost: 0 }

/** Returns what all parts say together: the oldest work of any of them counts. */
export function sumOf(states: readonly PartState[]): PartState {
  const add = (sum: PartState, { waiting, dropped, lost, oldestMs }: PartState) => ({
    waiting: sum.waiting + waiting,
    dropped: sum.dropped + dropped,
    lost: sum.lost + lost,
    oldestMs: sum.oldestMs === undefined ? oldestMs : Math.max(sum.oldestMs, oldestMs ?? 0),
  })
  return states.reduce(add, NOTHING)
}
