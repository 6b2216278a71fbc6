import { isUtf8 } from 'node:buffer'
import { ENGINE } from './engine-module.ts'
import { instantiate } from './instantiate.ts'
import type { Member } from './member.ts'
import { ROWS_MEMORY } from './page-memory.ts'
import { parseJson } from './parse-json.ts'
import { SHORT_TEXT } from './row-text.ts'
import { COLUMN, COUNT, FIRST, LAST, ROWS_END, SECOND, TABLE, TABLE_ROOM, type Table } from './table.ts'

/** The layout of the engine's memory. The output ends with the memory: writing beyond it throws. */
const INPUT = TABLE + TABLE_ROOM

const INPUT_ROOM = 4 * 1024 * 1024

const OUTPUT = INPUT + INPUT_ROOM

interface Engine {
  readonly memory: { readonly buffer: ArrayBuffer }
  find(object: number, name: number, length: number): number
  translate(table: number, name: number, rows: number): number
}

/** A translated page. `head` is its text before the rows' name, `tail` its text after the rows. */
export interface Translated {
  readonly head: string
  readonly tail: string
  readonly rows: Buffer | string
  readonly count: number
  readonly first: string
  readonly last: string
  /** The position of the comma before the second row. */
  readonly second: number
}

const NO_COLUMNS: readonly Member[] = []

/** The parsed values of the current page, the table's columns, and their address. */
const values: unknown[] = []
let columns = NO_COLUMNS
let columnsAt = 0
let prepared: Table | undefined

const host = {
  parse: (begin: number, end: number) => values.push(parseJson(memory.toString('utf8', begin, end))) - 1,
  show(column: number, value: number, out: number) {
    const member = columns[(column - columnsAt) / COLUMN]
    const text = member?.show(values[value])
    if (!member || text === undefined) return out
    const bytes = Buffer.from(`,${member.name}${text}`)
    memory.set(bytes, out)
    return out + bytes.length
  },
}

const engine = instantiate<Engine>(ENGINE, { host })

const memory = Buffer.from(engine.memory.buffer)

const numbers = new Int32Array(engine.memory.buffer, TABLE)

/** Turns a page into v1 rows; undefined if it is not as expected. Throws if a value on it is no JSON. */
export function translatePage(pieces: readonly Uint8Array[], table: Table): Translated | undefined {
  const end = load(pieces)
  if (end === undefined) return undefined
  prepare(table)
  try {
    const [at, length] = table.plural
    const name = engine.find(INPUT, at, length)
    const behind = name && engine.translate(TABLE, name + length, OUTPUT)
    return behind ? found(name, behind, end) : undefined
  } finally {
    values.length = 0
  }
}

/** The text that makes one row a list: the engine begins after the list's name. */
const [COLON, OPEN_LIST, CLOSE_LIST] = Buffer.from(':[]')

/** The same for a single row: its v1 form after a comma. */
export function translateRow(pieces: readonly Uint8Array[], table: Table): Buffer | string | undefined {
  const [first] = pieces
  const row = pieces.length === 1 && first ? first : Buffer.concat(pieces)
  const end = INPUT + 2 + row.length
  if (end + 2 >= OUTPUT || !isUtf8(row)) return undefined
  memory[INPUT] = COLON!
  memory[INPUT + 1] = OPEN_LIST!
  memory.set(row, INPUT + 2)
  memory[end] = CLOSE_LIST!
  memory[end + 1] = 0
  prepare(table)
  try {
    const behind = engine.translate(TABLE, INPUT, OUTPUT)
    return behind === end + 1 && numbers[COUNT] === 1 ? written(numbers[ROWS_END] ?? 0) : undefined
  } finally {
    values.length = 0
  }
}

/** Puts a table into memory. It stays until the next one, with the order of members that the engine has learnt. */
function prepare(table: Table): void {
  if (table === prepared) return
  prepared = table
  memory.set(table.image, TABLE)
  columns = table.columns
  columnsAt = table.columnsAt
}

/** Puts a text into memory with a zero after it; undefined if it is too large or not UTF-8. */
function load(pieces: readonly Uint8Array[]): number | undefined {
  let at = INPUT
  for (const piece of pieces) {
    if (at + piece.length >= OUTPUT) return undefined
    memory.set(piece, at)
    at += piece.length
  }
  memory[at] = 0
  return isUtf8(memory.subarray(INPUT, at)) ? at : undefined
}

function found(name: number, behind: number, end: number): Translated | undefined {
  const count = numbers[COUNT] ?? 0
  const rowsEnd = numbers[ROWS_END] ?? 0
  const first = count > 0 ? textAt(FIRST) : ''
  const last = count > 0 ? textAt(LAST) : ''
  if (first === undefined || last === undefined) return undefined
  const rows = written(rowsEnd)
  const second = count > 0 ? (numbers[SECOND] ?? 0) - OUTPUT : 0
  return { head: memory.toString('utf8', INPUT, name), tail: memory.toString('utf8', behind, end), rows, count, first, last, second }
}

/** Returns the rows up to `end` in the form of `RowText`. */
function written(end: number): Buffer | string {
  if (end - OUTPUT <= SHORT_TEXT) return memory.toString('latin1', OUTPUT, end)
  const rows = ROWS_MEMORY.take(end - OUTPUT)
  memory.copy(rows, 0, OUTPUT, end)
  return rows
}

/** Returns the text at a position of the engine's result; undefined if there is none. */
function textAt(place: number): string | undefined {
  const begin = numbers[place] ?? 0
  return begin === 0 ? undefined : memory.toString('utf8', begin, numbers[place + 1])
}
