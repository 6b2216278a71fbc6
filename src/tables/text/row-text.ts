import type { JsonObject } from '../json.ts'

/** Marks what no JSON can hold, so that an answer of v2 cannot pretend to be one. */
export const ROW_TEXT = Symbol('row text')

/** In bytes. A longer text stays outside the heap while it waits for its client. */
export const SHORT_TEXT = 16 * 1024

/** Rows in the v1 form, written already: the bytes of their JSON texts, each with a comma before it. */
export interface RowText {
  readonly [ROW_TEXT]: true
  /** If they are few, a text with a letter for each byte (Latin-1), which costs less to make and to send than a buffer. */
  readonly bytes: Buffer | string
  readonly count: number
  /** The uids of the first and the last row. */
  readonly first: string
  readonly last: string
  /** Where the second row's comma is. */
  readonly second: number
}

export function isRowText(value: unknown): value is RowText {
  return typeof value === 'object' && value !== null && ROW_TEXT in value
}

export function countOf(rows: readonly JsonObject[] | RowText): number {
  return isRowText(rows) ? rows.count : rows.length
}

/** The same without the first row. */
export function behindFirst(rows: readonly JsonObject[] | RowText): readonly JsonObject[] | RowText {
  if (!isRowText(rows)) return rows.slice(1)
  const { bytes, count, first, last, second } = rows
  const others = typeof bytes === 'string' ? bytes.slice(second) : bytes.subarray(second)
  return { [ROW_TEXT]: true, bytes: others, count: Math.max(0, count - 1), first, last, second: 0 }
}
