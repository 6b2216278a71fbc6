import { isUtf8 } from 'node:buffer'
import { type DescField, type DescMessage, fromJson, type JsonValue, ScalarType, toBinary } from '@bufbuild/protobuf'
import { isObject, type JsonObject } from '../../tables/json.ts'
import { instantiate } from '../../tables/text/engine.ts'
import { ENGINE } from './row-module.ts'
import {
  ByteWriter,
  DELIMITED,
  EIGHT_BYTES,
  encodeTimestamp,
  enumReader,
  isDelimited,
  isZero,
  partWriter,
  type ReadScalar,
  scalarReader,
  tagOf,
  unfit,
  writeScalar,
} from './writer.ts'

/** Writes the fields of a message from its JSON. Throws if a value does not have the type of its field. */
export type EncodeFields = (writer: ByteWriter, json: JsonObject) => void

/** Writes one value with its tag. */
type EncodeValue = (writer: ByteWriter, json: unknown) => void

const compiled = new WeakMap<DescMessage, EncodeFields>()

/**
 * Compiles the encoder of a message: protojson → bytes, without a message between them, in the order of the field numbers. The bytes are those
 * of the library, in half its time. Members of other names and names of enum values that nobody knows are left out.
 */
export function messageEncoder(message: DescMessage): EncodeFields {
  let encode = compiled.get(message)
  if (!encode) {
    encode = fieldsEncoder(message.fields)
    compiled.set(message, encode)
  }
  return encode
}

/** The same for some fields of a message. */
export function fieldsEncoder(fields: readonly DescField[]): EncodeFields {
  const rows = fields
    .toSorted((a, b) => a.number - b.number)
    .map((field) => ({ json: field.jsonName, name: field.name, encode: fieldEncoder(field) }))
  return (writer, json) => {
    for (const { json: jsonName, name, encode } of rows) {
      const value = json[jsonName] ?? json[name]
      if (value !== undefined && value !== null) encode(writer, value)
    }
  }
}

/** Compiles the encoder of one field: its value with its tag, unless it is the zero value of a field without presence. */
function fieldEncoder(field: DescField): EncodeValue {
  if (field.fieldKind === 'map') return mapEncoder(field)
  if (field.fieldKind === 'list') return listEncoder(field)
  if (field.fieldKind === 'message') return partWriter(field.number, partBody(field.message))
  if (field.scalar === ScalarType.DOUBLE) return doubleWriter(field)
  const read = readerOf(field)
  const tag = tagOf(field.number, field.scalar)
  const isKept = hasPresence(field)
  return (writer, json) => {
    const scalar = read(json)
    if (scalar === undefined || (!isKept && isZero(scalar))) return
    writer.varint(tag)
    writeScalar(writer, scalar)
  }
}

function doubleWriter(field: DescField): EncodeValue {
  const isKept = hasPresence(field)
  return (writer, json) => {
    const number = typeof json === 'number' || (typeof json === 'string' && json.trim() !== '') ? Number(json) : unfit('a number')
    if (Object.is(number, 0) && !isKept) return
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(number)
    writer.varint(field.number * 8 + EIGHT_BYTES)
    writer.raw(bytes)
  }
}

/** True if the zero value of a field is sent: it is not the same as none. */
function hasPresence({ oneof, proto }: DescField): boolean {
  return oneof !== undefined || proto.proto3Optional
}

function readerOf(field: Pick<DescField, 'scalar' | 'enum'>): ReadScalar {
  return field.enum ? enumReader(field.enum) : scalarReader(field.scalar ?? ScalarType.STRING)
}

function listEncoder(field: DescField & { fieldKind: 'list' }): EncodeValue {
  const { number } = field
  const each = field.listKind === 'message' ? partWriter(number, partBody(field.message)) : undefined
  if (each) {
    return (writer, json) => {
      for (const item of listOf(json)) each(writer, item)
    }
  }
  const read = readerOf(field)
  const isPacked = !isDelimited(field.scalar)
  const tag = number * 8 + DELIMITED
  if (!isPacked) {
    return (writer, json) => {
      for (const item of listOf(json)) {
        writer.varint(tag)
        writeScalar(writer, read(item) ?? '')
      }
    }
  }
  return (writer, json) => {
    const scalars = listOf(json).flatMap((item) => read(item) ?? [])
    if (scalars.length === 0) return
    writer.varint(tag)
    const start = writer.open(1)
    for (const scalar of scalars) writeScalar(writer, scalar)
    writer.close(start, 1)
  }
}

function listOf(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : unfit('a list')
}

/** A map is a list of parts with a key and a value. Both are written even if they are zero. */
function mapEncoder(field: DescField & { fieldKind: 'map' }): EncodeValue {
  const readKey = scalarReader(field.mapKey)
  const keyTag = tagOf(1, field.mapKey)
  const encodeValue = field.mapKind === 'message' ? partWriter(2, partBody(field.message)) : valueEncoder(field)
  const tag = field.number * 8 + DELIMITED
  return (writer, json) => {
    if (!isObject(json)) return unfit('an object')
    for (const [key, value] of Object.entries(json)) {
      writer.varint(tag)
      const start = writer.open(1)
      writer.varint(keyTag)
      writeScalar(writer, readKey(key) ?? key)
      encodeValue(writer, value)
      writer.close(start, 1)
    }
  }
}

function valueEncoder(field: DescField & { fieldKind: 'map' }): EncodeValue {
  const read = readerOf(field)
  const tag = tagOf(2, field.scalar)
  return (writer, json) => {
    writer.varint(tag)
    writeScalar(writer, read(json) ?? 0)
  }
}

const WELL_KNOWN = 'google.protobuf.'

function partBody(message: DescMessage): EncodeValue {
  if (message.typeName === 'google.protobuf.Timestamp') return encodeTimestamp
  if (message.typeName.startsWith(WELL_KNOWN)) return (writer, json) => writer.raw(toBinary(message, fromJson(message, json as JsonValue)))
  const encode = messageEncoder(message)
  return (writer, json) => (isObject(json) ? encode(writer, json) : unfit('an object'))
}

/** How values are written; engine/layout.ts has the same order. JavaScript writes those of the first kind. */
const KINDS = ['other', 'text', 'flag', 'time', 'part', 'texts', 'parts'] as const

type Kind = (typeof KINDS)[number]

/** The bytes of a message and of a member; engine/layout.ts names their parts. */
const MESSAGE = 12
const MEMBER = 48

/**
 * Lays the tables of messages into the engine's memory from `from` to before `end`. What the engine learns stays in them. An address is that
 * of a byte in it.
 */
function createMessageTables(memory: Buffer, from: number, end: number) {
  const fields: EncodeValue[] = []
  const known = new Map<DescMessage, number>()
  let free = from

  const take = (bytes: number): number => {
    const at = free
    // Words are aligned.
    free += Math.ceil(bytes / 4) * 4
    if (free > end) throw new RangeError('no room for the tables of a message')
    return at
  }
  const putWords = (at: number, words: readonly number[]) => {
    for (const [index, word] of words.entries()) memory.writeUInt32LE(word, at + 4 * index)
  }
  const put = (at: number, { name, kind, tag, isKept, part, field, bits }: Member) => {
    const key = Buffer.from(`${JSON.stringify(name)}:`)
    const keyAt = take(key.length)
    key.copy(memory, keyAt)
    putWords(at, [keyAt, key.length, KINDS.indexOf(kind), ...tagBytes(tag), Number(isKept), part, 1, field, 0, ...bits])
  }
  const putField = (at: number, field: DescField, index: number) => {
    const kind = kindOf(field)
    const tag = kind === 'flag' ? tagOf(field.number, ScalarType.BOOL) : field.number * 8 + DELIMITED
    const part = (kind === 'part' || kind === 'parts') && field.message ? messageAt(field.message) : 0
    const number = fields.push(fieldEncoder(field)) - 1
    const member = { kind, tag, isKept: hasPresence(field), part, field: number, bits: bitsOf(index) }
    put(at, { ...member, name: field.name })
    put(at + MEMBER, { ...member, name: field.jsonName })
  }
  const messageAt = (message: DescMessage): number => {
    const laid = known.get(message)
    if (laid !== undefined) return laid
    const at = take(MESSAGE)
    const length = 2 * message.fields.length * MEMBER
    const members = take(length)
    putWords(at, [0, members, members + length])
    for (const [index, field] of message.fields.entries()) putField(members + 2 * index * MEMBER, field, index)
    known.set(message, at)
    return at
  }
  return {
    /** Writes the fields, by their numbers in the tables. */
    fields,
    /** Returns the address of a member that is a list of this message; undefined if there is no room for its tables. */
    listAt(number: number, message: DescMessage): number | undefined {
      try {
        const part = messageAt(message)
        const at = take(MEMBER)
        put(at, { name: '', kind: 'parts', tag: number * 8 + DELIMITED, isKept: false, part, field: 0, bits: bitsOf(0) })
        return at
      } catch (full) {
        if (full instanceof RangeError) return undefined
        throw full
      }
    },
  }
}

/** One of the two names of a field. */
interface Member {
  readonly name: string
  readonly kind: Kind
  readonly tag: number
  /** The zero value is sent. */
  readonly isKept: boolean
  /** The address of the message of its values. */
  readonly part: number
  /** The number of the field in the tables. */
  readonly field: number
  readonly bits: Bits
}

/** The bit of a field among those of its message, as two words; none from the 65th on. */
type Bits = readonly [low: number, high: number]

function bitsOf(index: number): Bits {
  return [index < 32 ? 2 ** index : 0, index >= 32 && index < 64 ? 2 ** (index - 32) : 0]
}

function kindOf(field: DescField): Kind {
  const type = field.message?.typeName ?? ''
  if (field.fieldKind === 'list') {
    if (field.listKind === 'message') return type.startsWith(WELL_KNOWN) ? 'other' : 'parts'
    return field.scalar === ScalarType.STRING ? 'texts' : 'other'
  }
  if (field.fieldKind === 'message') return type === 'google.protobuf.Timestamp' ? 'time' : type.startsWith(WELL_KNOWN) ? 'other' : 'part'
  if (field.fieldKind !== 'scalar') return 'other'
  return field.scalar === ScalarType.STRING ? 'text' : field.scalar === ScalarType.BOOL ? 'flag' : 'other'
}

/** Returns the bytes of a tag as a word, and their number. */
function tagBytes(tag: number): readonly [word: number, length: number] {
  let [word, length] = [0, 0]
  let rest = tag
  for (; rest > 0x7f; rest >>>= 7) word += ((rest & 0x7f) | 0x80) * 2 ** (8 * length++)
  return [word + rest * 2 ** (8 * length), length + 1]
}

/**
 * Writes rows from their JSON text: objects with commas between and perhaps before them. A text has a letter for each byte (Latin-1).
 * Returns undefined if JSON must be parsed instead. Throws if a value does not have the type of its field.
 */
export type EncodeRowsText = (rows: Buffer | string) => Buffer | undefined

/** The layout of the engine's memory. The output has four times the room: `-1` in a list takes ten bytes. */
const TABLES = 1024
const INPUT = 1024 * 1024
const INPUT_ROOM = 3 * 1024 * 1024
const OUTPUT = INPUT + INPUT_ROOM

interface RowEngine {
  readonly memory: { readonly buffer: ArrayBuffer }
  encode(list: number, from: number, end: number, to: number): number
}

const host = {
  write(field: number, begin: number, end: number, out: number): number {
    const value: unknown = JSON.parse(memory.toString('utf8', begin, end))
    if (value === null) return out
    writer.begin()
    tables.fields[field]?.(writer, value)
    const bytes = writer.take()
    memory.set(bytes, out)
    return out + bytes.length
  },
}

const engine = instantiate<RowEngine>(ENGINE, { host })

const memory = Buffer.from(engine.memory.buffer)

const tables = createMessageTables(memory, TABLES, INPUT)

const writer = new ByteWriter()

/**
 * Compiles the encoder of a list from text: neither a tree nor its strings are made. Members are written as they stand, so their order on the
 * wire is that of the text. What is not plain goes through the encoder from JSON, value by value.
 */
export function rowsTextEncoder({ number, message }: { readonly number: number; readonly message: DescMessage }): EncodeRowsText {
  const list = tables.listAt(number, message)
  return (rows) => {
    if (list === undefined || rows.length >= INPUT_ROOM) return undefined
    const end = load(rows)
    if (!isUtf8(memory.subarray(INPUT, end))) return undefined
    const written = engine.encode(list, INPUT, end, OUTPUT)
    return written === 0 ? undefined : Buffer.from(memory.subarray(OUTPUT, written))
  }
}

/** Puts text into memory with a zero after it. Returns its end. */
function load(rows: Buffer | string): number {
  if (typeof rows === 'string') memory.write(rows, INPUT, 'latin1')
  else memory.set(rows, INPUT)
  const end = INPUT + rows.length
  memory[end] = 0
  return end
}
