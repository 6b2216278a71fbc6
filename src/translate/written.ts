import { countOf, isRowText } from '../tables/text/engine.ts'
import { ROWS, type RowsTurn } from '../tables/turn.ts'

/** JSON text: pieces of its bytes. A short one is a text with a letter for each byte (Latin-1). */
export type Written = readonly Buffer[] | string

/** The bytes of a written text. */
export function bytesOf(written: Written): readonly Buffer[] {
  return typeof written === 'string' ? [Buffer.from(written, 'latin1')] : written
}

/** The number of its bytes. */
export function lengthOf(written: Written): number {
  if (typeof written === 'string') return written.length
  let length = 0
  for (const piece of written) length += piece.length
  return length
}

/** One batch of rows. */
export type Rows = RowsTurn['rows']

/** Writes an answer whose rows are known, some of them as text. */
export function writtenOf(held: readonly Rows[], body: unknown): Written {
  const [only] = held
  if (held.length === 1 && only && isRowText(only) && typeof only.bytes === 'string') {
    return `${BEGIN_TEXT}${only.bytes.slice(1)}${latin1Of(endOf(body))}`
  }
  return [...begun(held), Buffer.from(endOf(body))]
}

const BEGIN_TEXT = `{${JSON.stringify(ROWS)}:[`
const BEGIN = Buffer.from(BEGIN_TEXT)
const END = ']}'

/** The part after the rows: the rest of the envelope. */
export function endOf(body: unknown): string {
  if (isEmpty(body)) return END
  const rest = JSON.stringify(body).slice(1)
  return rest === '}' ? END : `],${rest}`
}

/** True if the envelope holds only rows, as most do. */
function isEmpty(body: unknown): boolean {
  for (const _ in body as object) return false
  return true
}

/** A letter for each byte of the text. */
function latin1Of(text: string): string {
  return text === END ? text : Buffer.from(text).toString('latin1')
}

/** Returns the beginning of an answer and the rows so far. */
export function begun(held: readonly Rows[]): Buffer[] {
  const pieces: Buffer[] = [BEGIN]
  for (const rows of held) {
    if (countOf(rows) > 0) pieces.push(pieces.length === 1 ? textOf(rows).subarray(1) : textOf(rows))
  }
  return pieces
}

/** Writes the rows, each after a comma. */
export function textOf(rows: Rows): Buffer {
  if (!isRowText(rows)) return Buffer.from(rows.map((row) => `,${JSON.stringify(row)}`).join(''))
  return typeof rows.bytes === 'string' ? Buffer.from(rows.bytes, 'latin1') : rows.bytes
}
