import { isUtf8 } from 'node:buffer'
import { ENGINE } from './engine-module.ts'
import type { Member } from './member.ts'
import { parseJson } from './parse-json.ts'
import { SHORT_TEXT } from './row-text.ts'
import { COLUMN, COUNT, FIRST, LAST, ROWS_END, SECOND, TABLE, TABLE_ROOM, type Table } from './table.ts'

/** Where things lie in the engine's memory. The output ends where the memory does: writing more than it holds throws. */
const INPUT = TABLE + TABLE_ROOM

const INPUT_ROOM = 4 * 1024 * 1024

const OUTPUT = INPUT + INPUT_ROOM

/** As much of it as is needed; its types belong to the browser's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

interface Engine {
  readonly memory: { readonly buffer: ArrayBuffer }
  find(object: number, name: number, length: number): number
  translate(table: number, name: number, rows: number): number
}

/** A page in the engine: of its text, `head` ends where the rows' name begins, and `tail` begins behind the rows. */
export interface Translated {
  readonly head: string
  readonly tail: string
  readonly rows: Buffer | string
  readonly count: number
  readonly first: string
  readonly last: string
  /** Where the second row's comma is. */
  readonly second: number
}

const NO_COLUMNS: readonly Member[] = []

/** What the engine has parsed of the page at hand, and the table's columns and where they begin. */
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

const module = new WebAssembly.Module(Buffer.from(ENGINE, 'base64'))

const engine = new WebAssembly.Instance(module, { host }).exports as Engine

const memory = Buffer.from(engine.memory.buffer)

const numbers = new Int32Array(engine.memory.buffer, TABLE)

/** Turns a page into v1 rows; undefined when it is not as expected. Throws when a value on it is no JSON. */
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

/** What makes a list of one row: the engine begins behind the list's name. */
const [COLON, OPEN_LIST, CLOSE_LIST] = Buffer.from(':[]')

/** The same for a single row: its v1 form, a comma before it. */
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

/** Puts a table into memory; it stays there until the next one, with what the engine has learnt of the order of members. */
function prepare(table: Table): void {
  if (table === prepared) return
  prepared = table
  memory.set(table.image, TABLE)
  columns = table.columns
  columnsAt = table.columnsAt
}

/** Puts a text into memory, with a zero behind it; undefined when it is too large, or no UTF-8. */
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

/** The rows up to there, as `RowText` has them. */
function written(end: number): Buffer | string {
  if (end - OUTPUT <= SHORT_TEXT) return memory.toString('latin1', OUTPUT, end)
  const rows = Buffer.allocUnsafeSlow(end - OUTPUT)
  memory.copy(rows, 0, OUTPUT, end)
  return rows
}

/** The text between two places that the engine has told; undefined when there is none. */
function textAt(place: number): string | undefined {
  const begin = numbers[place] ?? 0
  return begin === 0 ? undefined : memory.toString('utf8', begin, numbers[place + 1])
}
