import { isUtf8 } from 'node:buffer'
import { emitter, hasUid, isShown, isShownIn, nameIn, placeOf } from '../compile.ts'
import type { EnumRow, Field, Fields, FieldType } from '../fields.ts'
import type { JsonObject } from '../json.ts'
import { type Dialect, parentUid } from '../uid.ts'
import { ENGINE } from './engine-module.ts'
import { isLongList, markLong, parseJson } from './parse-json.ts'

/** The part of the type that is needed; Node's types lack it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/** Makes an engine of a WebAssembly module in base64: `instantiate<Engine>(ENGINE, { host })`. The caller knows what it exports. */
export function instantiate<Exports>(base64: string, imports: object): Exports {
  return new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(base64, 'base64')), imports).exports as Exports
}

/** Bytes. Memory comes in multiples of this, so that pages of similar sizes share it. */
const UNIT = 32 * 1024

/** Bytes. Longer memory is allocated and collected as usual. */
const LONGEST = 256 * 1024

/** Bytes that wait to be used again. */
const MOST_FREE = 4 * 1024 * 1024

/**
 * Memory that is used again. Node allocates the bytes of buffers outside of V8's heap, but V8 counts them: about 8 MB between two small collections start a full one,
 * and the pages of a long list are more. What is never given back is collected like any other buffer.
 */
function createMemory() {
  const free: Buffer[][] = Array.from({ length: LONGEST / UNIT + 1 }, () => [])
  const lent = new WeakSet<ArrayBufferLike>()
  let freeBytes = 0
  return {
    /** Returns `size` bytes with any content. */
    take(size: number): Buffer {
      if (size > LONGEST) return Buffer.allocUnsafeSlow(size)
      const units = Math.ceil(size / UNIT)
      const known = free[units]?.pop()
      if (known) freeBytes -= known.length
      const memory = known ?? Buffer.allocUnsafeSlow(units * UNIT)
      lent.add(memory.buffer)
      return memory.subarray(0, size)
    },
    /**
     * Gives back the memory of a buffer or of a part of it. Who does that says that nobody reads any part any more.
     * Without effect on memory from elsewhere, and on memory that was given back before.
     */
    give({ buffer }: Uint8Array): void {
      if (!lent.delete(buffer) || freeBytes + buffer.byteLength > MOST_FREE) return
      freeBytes += buffer.byteLength
      free[buffer.byteLength / UNIT]?.push(Buffer.from(buffer))
    },
  }
}

/** For rows in v1's form. They are given back when a client has them. */
export const ROWS_MEMORY = createMemory()

/** For bytes of v2 as they arrive. They are given back when they are read. */
export const ARRIVED_MEMORY = createMemory()

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
  if (!isRowText(rows)) return isLongList(rows) ? markLong(rows.slice(1)) : rows.slice(1)
  const { bytes, count, first, last, second } = rows
  const others = typeof bytes === 'string' ? bytes.slice(second) : bytes.subarray(second)
  return { [ROW_TEXT]: true, bytes: others, count: Math.max(0, count - 1), first, last, second: 0 }
}

/** How a v2 value is written; the engine counts them in this order (engine/scan.ts). */
export const LOOKS = ['absent', 'text', 'escaped', 'texts', 'true', 'false', 'null', 'integer', 'other'] as const

export type Look = (typeof LOOKS)[number]

/** A v1 member in the form in which the text of a row is written. */
export interface Member {
  /** `"name":` */
  readonly name: string
  /** Made from the value, as the parent part of a uid, or from a list of enum values. */
  readonly kind: 'value' | 'parent' | 'list'
  /** The v2 member that is its source; undefined if v2 has none. */
  readonly from: string | undefined
  /** The looks of the v2 value whose text can be copied. */
  readonly copied: readonly Look[]
  /** True if only a text that is a time can be copied. */
  readonly isTime: boolean
  /** The text if v2 lacks the member; undefined if v1 then shows nothing. */
  readonly unset: string | undefined
  /** The values of an enum, also of one in a list. */
  readonly choices: readonly EnumRow[] | undefined
  /** Returns the text for any other value. */
  show(value: unknown): string | undefined
}

/** Returns how a field is written, or undefined if its source needs the whole row. */
export function memberOf(name: string, field: Field, dialect: Dialect): Member | undefined {
  const { source, type, convert } = field
  if (convert || field.isNullable) return undefined
  const emit = emitter(type, dialect, placeOf(source))
  const shown = isShown(field)
  const show = (value: unknown) => (shown(value) ? JSON.stringify(emit(value)) : undefined)
  const plain = {
    name: `${JSON.stringify(name)}:`,
    kind: 'value',
    copied: NONE,
    isTime: false,
    unset: show(undefined),
    choices: undefined,
    show,
  } as const
  if (source === undefined) return { ...plain, from: undefined }
  if (typeof source === 'string') {
    if (source === '' || source.includes('.')) return undefined
    const made = { ...plain, from: source, copied: field.zeroIsUnset ? NONE : copiedLooks(type), isTime: type.kind === 'time' }
    if (type.kind === 'list' && type.of.kind === 'choice' && !type.holdsNull) return { ...made, kind: 'list', choices: type.of.of.rows }
    return { ...made, choices: type.kind === 'choice' ? type.of.rows : undefined }
  }
  if (!('parentOf' in source) || typeof source.parentOf !== 'string' || type.kind !== 'text') return undefined
  return {
    ...plain,
    kind: 'parent',
    from: source.parentOf,
    show: (value) => show(typeof value === 'string' ? parentUid(value) : undefined),
  }
}

const NONE: readonly Look[] = []
const TEXT: readonly Look[] = ['text', 'escaped']

/** Returns the looks that a field of this type shows unchanged. */
function copiedLooks(type: FieldType): readonly Look[] {
  switch (type.kind) {
    case 'text':
    case 'time':
      return TEXT
    case 'flag':
      return ['true', 'false']
    case 'int':
      return type.unsigned ? NONE : ['integer']
    case 'list':
      return type.of.kind === 'text' ? ['texts'] : NONE
    default:
      return NONE
  }
}

/** A field table in the form that the engine reads from memory; engine/table.ts names the numbers. */
export interface Table {
  /** The bytes of memory from `TABLE` on. */
  readonly image: Uint8Array
  readonly columns: readonly Member[]
  /** The address of the columns. */
  readonly columnsAt: number
  /** The name of the member that holds the rows, quotes included: its address and length. */
  readonly plural: Text
}

/** Address and length. */
type Text = readonly [at: number, length: number]

/** The address of the table, the size of its space, and that of the uids behind it (engine/table.ts). */
const TABLE = 1024
const TABLE_ROOM = 59 * 1024
const SEEN_ROOM = 4 * 1024

/** The count of numbers in the table itself; the members whose places are remembered; the bytes of a slot and of a column. */
const HEADER = 14
const PLACES = 64

/** The index of the number that says that each row has a uid. */
const IDENTIFIED = 13
const SLOT = 28

/** The bit beside those of looks that says that the text must be a time. */
const TIMED = 1 << 16
export const COLUMN = 32
const UID = 'uid'

/** Memory that is filled from the beginning of the table. */
interface Draft {
  readonly bytes: Buffer
  at: number
}

/** Writes a field table. The uid is its first slot, even if v1 does not show it. `isIdentified`: an object without a uid is no row. */
export function tableOf(plural: string, columns: readonly Member[], isIdentified: boolean): Table {
  const draft: Draft = { bytes: Buffer.alloc(TABLE_ROOM), at: 4 * HEADER }
  const pluralText = putText(draft, JSON.stringify(plural))
  const names = [...new Set([UID, ...columns.flatMap(({ from }) => from ?? [])])]
  const slots = putWords(
    draft,
    names.flatMap((name) => slotOf(draft, name)),
  )
  const slotOfName = new Map(names.map((name, at) => [name, slots + at * SLOT]))
  const slotsEnd = draft.at + TABLE
  const records = columns.flatMap((column) => columnOf(draft, column, slotOfName.get(column.from ?? '') ?? 0))
  const columnsAt = putWords(draft, records)
  const columnsEnd = draft.at + TABLE
  const order = putWords(draft, new Array(PLACES).fill(0))
  const header = [slots, slotsEnd, columnsAt, columnsEnd, order, draft.at + TABLE]
  for (const [at, word] of header.entries()) draft.bytes.writeInt32LE(word, 4 * at)
  draft.bytes.writeInt32LE(Number(isIdentified), 4 * IDENTIFIED)
  return { image: Uint8Array.from(draft.bytes.subarray(0, draft.at)), columns, columnsAt, plural: pluralText }
}

function slotOf(draft: Draft, name: string): readonly number[] {
  const key = putText(draft, `${JSON.stringify(name)}:`)
  return [...key, (1 << Math.min(16, key[1])) - 1, 0, 0, 0, 0]
}

/** How a member is made; the engine counts them in this order (engine/table.ts). */
const KINDS: readonly Member['kind'][] = ['value', 'parent', 'list']

function columnOf(draft: Draft, { name, kind, copied, isTime, unset, choices }: Member, slot: number): readonly number[] {
  const label = putText(draft, `,${name}`)
  const empty = unset === undefined ? [0, 0] : putText(draft, `,${name}${unset}`)
  const known = choices ? putChoices(draft, kind === 'list' ? '' : name, choices) : 0
  const mask = LOOKS.reduce((bits, look, at) => bits | (copied.includes(look) ? 1 << at : 0), isTime ? TIMED : 0)
  return [slot, mask, ...label, ...empty, known, KINDS.indexOf(kind)]
}

function putChoices(draft: Draft, name: string, choices: NonNullable<Member['choices']>): number {
  const words = choices.flatMap(([v1, v2]) => [...putText(draft, JSON.stringify(v2)), ...putText(draft, `,${name}${JSON.stringify(v1)}`)])
  return putWords(draft, [...words, 0, 0])
}

function putText(draft: Draft, text: string): Text {
  const bytes = Buffer.from(text)
  const at = draft.at
  if (at + bytes.length > TABLE_ROOM) throw new Error('a field table is too large for the engine')
  draft.at += bytes.copy(draft.bytes, at)
  return [TABLE + at, bytes.length]
}

/** Returns their address. */
function putWords(draft: Draft, words: readonly number[]): number {
  const at = draft.at
  for (const word of words) draft.at = draft.bytes.writeInt32LE(word, draft.at)
  return TABLE + at
}

/** Indices of the numbers that the engine leaves in the table; engine/table.ts names them. */
export const COUNT = 6
const ROWS_END = 7
export const SECOND = 8
export const FIRST = 9
export const LAST = 11

/** The layout of the engine's memory. The output ends with the memory: writing beyond it throws. */
const INPUT = TABLE + TABLE_ROOM + SEEN_ROOM

const INPUT_ROOM = 4 * 1024 * 1024

const OUTPUT = INPUT + INPUT_ROOM

interface Engine {
  readonly memory: { readonly buffer: ArrayBuffer }
  find(object: number, name: number, length: number): number
  translate(table: number, name: number, rows: number): number
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

/** Reads the bytes of a v2 answer; undefined if it is not as expected. */
export type ReadPageText = (pieces: readonly Uint8Array[]) => JsonObject | undefined

/** Reads an answer with the table of its rows. Throws if a value in it is not JSON. */
type Translate = (pieces: readonly Uint8Array[], table: Table, plural: string) => JsonObject | undefined

/**
 * Compiles a reader of v2 list answers that turns the rows into v1 text. Its result is the answer's envelope with that text in place of
 * the rows. The text equals parsed and rewritten rows byte for byte; wherever that is uncertain, the result is undefined, and the parser
 * reads the answer. A table with members that need whole rows has no reader.
 */
export function compilePage(plural: string, fields: Fields, dialect: Dialect): ReadPageText | undefined {
  return compiled(translatePage, plural, fields, dialect)
}

/** The same for the answer of a Get: its one row, under the key of a list's rows. */
export function compileRow(plural: string, fields: Fields, dialect: Dialect): ReadPageText | undefined {
  return compiled(translateRow, plural, fields, dialect)
}

function compiled(translate: Translate, plural: string, fields: Fields, dialect: Dialect): ReadPageText | undefined {
  const members = membersOf(fields, dialect)
  if (!members) return undefined
  const table = tableOf(plural, members, hasUid(fields))
  return (pieces) => {
    try {
      return translate(pieces, table, plural)
    } catch {
      return undefined
    } finally {
      values.length = 0
    }
  }
}

/** Returns the members of a v1 row, or undefined if one of them needs the whole v2 row. */
function membersOf(fields: Fields, dialect: Dialect): readonly Member[] | undefined {
  const members: Member[] = []
  for (const [name, field] of Object.entries(fields)) {
    if (!isShownIn(dialect, field)) continue
    const member = memberOf(nameIn(dialect, name, field), field, dialect)
    if (!member) return undefined
    members.push(member)
  }
  return members
}

/** The text that may follow the rows: the end, or a comma and more. */
const BEHIND = /^ *(?:\}|,(?! *\}))/

const LEADING_COMMA = /^ *,/

/** Returns the envelope of a page with v1 rows; undefined if it is too large or not as expected. */
function translatePage(pieces: readonly Uint8Array[], table: Table, plural: string): JsonObject | undefined {
  let end = INPUT
  for (const piece of pieces) {
    if (end + piece.length >= OUTPUT) return undefined
    memory.set(piece, end)
    end += piece.length
  }
  memory[end] = 0
  if (!isUtf8(memory.subarray(INPUT, end))) return undefined
  if (table !== prepared) prepare(table)
  const [at, length] = table.plural
  const name = engine.find(INPUT, at, length)
  const behind = name && engine.translate(TABLE, name + length, OUTPUT)
  if (!behind) return undefined
  const count = numbers[COUNT] ?? 0
  const first = count > 0 ? textAt(FIRST) : ''
  const last = count > 0 ? textAt(LAST) : ''
  if (first === undefined || last === undefined) return undefined
  // Their members stand before the name of the rows and after their list.
  const head = memory.toString('utf8', INPUT, name).trimEnd()
  const tail = memory.toString('utf8', behind, end)
  if (!BEHIND.test(tail)) return undefined
  const envelope = parseJson(head === '{' ? head + tail.replace(LEADING_COMMA, '') : head.slice(0, -1) + tail) as Record<string, unknown>
  if (Object.hasOwn(envelope, plural)) return undefined
  const second = count > 0 ? (numbers[SECOND] ?? 0) - OUTPUT : 0
  envelope[plural] = { [ROW_TEXT]: true, bytes: written(numbers[ROWS_END] ?? 0), count, first, last, second }
  return envelope as JsonObject
}

/** The text that makes one row a list: the engine begins after the list's name. */
const [COLON, OPEN_LIST, CLOSE_LIST] = Buffer.from(':[]')

/** Returns a single row in v1's form under the key of a list's rows; undefined if it is too large or not as expected. */
function translateRow(pieces: readonly Uint8Array[], table: Table, plural: string): JsonObject | undefined {
  const [first] = pieces
  const row = pieces.length === 1 && first ? first : Buffer.concat(pieces)
  const end = INPUT + 2 + row.length
  if (end + 2 >= OUTPUT || !isUtf8(row)) return undefined
  memory[INPUT] = COLON!
  memory[INPUT + 1] = OPEN_LIST!
  memory.set(row, INPUT + 2)
  memory[end] = CLOSE_LIST!
  memory[end + 1] = 0
  if (table !== prepared) prepare(table)
  const behind = engine.translate(TABLE, INPUT, OUTPUT)
  if (behind !== end + 1 || numbers[COUNT] !== 1) return undefined
  const bytes = written(numbers[ROWS_END] ?? 0)
  return { [plural]: { [ROW_TEXT]: true, bytes, count: 1, first: '', last: '', second: bytes.length } }
}

/** Puts a table into memory. It stays until the next one, with the order of members that the engine has learnt. */
function prepare(table: Table): void {
  prepared = table
  memory.set(table.image, TABLE)
  columns = table.columns
  columnsAt = table.columnsAt
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
