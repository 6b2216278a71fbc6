import type { JsonObject } from '../json.ts'

/** A key that JSON cannot contain, so that an answer of v2 cannot imitate a row text. It is equal in every copy of this module. */
export const ROW_TEXT: unique symbol = Symbol.for('crosswalk.rowText')

/** In bytes. A longer text stays outside the heap while it waits for its client. */
export const SHORT_TEXT = 16 * 1024

/** Rows that are already written in v1's form: the bytes of their JSON texts, each after a comma. */
export interface RowText {
  readonly [ROW_TEXT]: true
  /** If they are few, a text with a letter for each byte (Latin-1), which costs less to make and to send than a buffer. */
  readonly bytes: Buffer | string
  readonly count: number
  /** The uids of the first and the last row. */
  readonly first: string
  readonly last: string
  /** The position of the comma before the second row. */
  readonly second: number
}

export function isRowText(value: unknown): value is RowText {
  return typeof value === 'object' && value !== null && ROW_TEXT in value
}

export function countOf(rows: readonly JsonObject[] | RowText): number {
  return isRowText(rows) ? rows.count : rows.length
}

/** Returns the same rows without the first. */
export function behindFirst(rows: readonly JsonObject[] | RowText): readonly JsonObject[] | RowText {
  if (!isRowText(rows)) return rows.slice(1)
  const { bytes, count, first, last, second } = rows
  const others = typeof bytes === 'string' ? bytes.slice(second) : bytes.subarray(second)
  return { [ROW_TEXT]: true, bytes: others, count: Math.max(0, count - 1), first, last, second: 0 }
}
