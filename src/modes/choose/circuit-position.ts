import { isRead } from '../../serve/sides.ts'
import type { Operation } from '../../tables/operation.ts'
import type { CircuitPosition } from './select.ts'

/** Tells what the circuit of an operation means for one request. */
export type Positions = (operation: Operation) => CircuitPosition

export interface ProbeSettings {
  /** True if the circuit of the operation with this id is open. */
  readonly isOpen: (id: string) => boolean
  /** Share of the requests to compare while a circuit is open, 0–100. Writes are not compared: v2 itself would have to answer them. */
  readonly percent: () => number
  /** Returns a number from 0 up to but not including 1. */
  readonly random: () => number
}

export function createPositions({ isOpen, percent, random }: ProbeSettings): Positions {
  return (operation) => {
    if (!isOpen(operation.id)) return 'closed'
    return isRead(operation) && 100 * random() < percent() ? 'probed' : 'open'
  }
}
