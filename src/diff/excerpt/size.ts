import type { RedactLimits } from '../redact/redact.ts'

/** How much of the JSON around a difference is kept. */
export interface Size {
  /** Members on each side of the place, besides the names of the row. */
  readonly members: number
  /** Rows before and after the place, and of an order that differs. */
  readonly rows: number
  readonly moved: number
  /** Limits of a neighbouring member, and of a whole answer. */
  readonly value: RedactLimits
  readonly answer: RedactLimits
}

/** The usual size, and the one for data that would be too large. */
export const SIZES: readonly [Size, Size] = [
  {
    members: 3,
    rows: 2,
    moved: 6,
    value: { text: 80, items: 2, members: 3, depth: 1 },
    answer: { text: 200, items: 2, members: 8, depth: 3 },
  },
  {
    members: 1,
    rows: 1,
    moved: 3,
    value: { text: 40, items: 1, members: 1, depth: 0 },
    answer: { text: 80, items: 1, members: 4, depth: 1 },
  },
]
