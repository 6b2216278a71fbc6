import { isUtf8 } from 'node:buffer'
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import type { ByteWriter } from './byte-writer.ts'
import { fieldEncoder, hasPresence } from './encode-json.ts'
import { JsonCursor, UNUSUAL } from './json-cursor.ts'
import { DELIMITED, tagOf } from './wire-scalar.ts'

/** Writes rows from their JSON text: objects with commas between and perhaps before them. Returns false if JSON must be parsed instead. */
export type EncodeRowsText = (writer: ByteWriter, text: Buffer) => boolean

/** Writes the value at the cursor, with its tag. */
type EncodeAt = (writer: ByteWriter, cursor: JsonCursor) => void

/** A member of an object. Rows are alike, so the member that followed it last most often follows again. */
interface Member {
  /** `"name":`. */
  readonly key: Uint8Array
  readonly encode: EncodeAt
  next: Member | undefined
}

const [QUOTE, COMMA, OBJECT, OBJECT_END, LIST, LIST_END, TRUE] = Buffer.from('",{}[]t') as unknown as readonly [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
]

/**
 * Compiles the encoder of a list from text: neither a tree nor its strings are made, which halves the cost of a list. Members are written as they
 * stand, so their order on the wire is that of the text. What is not plain text goes through the encoder from JSON, value by value.
 */
export function rowsTextEncoder({ number, message }: { readonly number: number; readonly message: DescMessage }): EncodeRowsText {
  const encode = partAt(number, message)
  return (writer, text) => {
    if (!isUtf8(text)) return false
    const cursor = new JsonCursor(text)
    try {
      while (cursor.letter !== undefined) if (!cursor.passes(COMMA)) encode(writer, cursor)
      return true
    } catch (thrown) {
      if (thrown === UNUSUAL) return false
      throw thrown
    }
  }
}

function partAt(number: number, message: DescMessage): EncodeAt {
  const tag = number * 8 + DELIMITED
  const encode = membersAt(message)
  let width = 1
  return (writer, cursor) => {
    writer.varint(tag)
    const start = writer.open(width)
    encode(writer, cursor)
    width = writer.close(start, width)
  }
}

const compiled = new WeakMap<DescMessage, EncodeAt>()

function membersAt(message: DescMessage): EncodeAt {
  let encode = compiled.get(message)
  if (!encode) {
    encode = compileMembers(message)
    compiled.set(message, encode)
  }
  return encode
}

function compileMembers({ fields }: DescMessage): EncodeAt {
  const members = new Map<string, Member>()
  for (const field of fields) {
    const encode = fieldAt(field)
    for (const name of [field.name, field.jsonName]) members.set(name, { key: Buffer.from(`"${name}":`), encode, next: undefined })
  }
  let first: Member | undefined
  const lookUp = (cursor: JsonCursor, before: Member | undefined): Member => {
    const name = cursor.name()
    const member = members.get(name) ?? { key: Buffer.from(`"${name}":`, 'latin1'), encode: skip, next: undefined }
    if (before) before.next = member
    else first = member
    return member
  }
  return (writer, cursor) => {
    if (!cursor.passes(OBJECT)) throw UNUSUAL
    if (cursor.passes(OBJECT_END)) return
    let member: Member | undefined
    let guess = first
    do {
      member = guess && cursor.passesAll(guess.key) ? guess : lookUp(cursor, member)
      member.encode(writer, cursor)
      guess = member.next
    } while (cursor.passes(COMMA))
    if (!cursor.passes(OBJECT_END)) throw UNUSUAL
  }
}

/** The message has no such member. */
const skip: EncodeAt = (_, cursor) => cursor.skip()

function fieldAt(field: DescField): EncodeAt {
  const parsed = parsedAt(field)
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING) return textAt(field, parsed)
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.BOOL) return flagAt(field, parsed)
  if (field.message?.typeName === 'google.protobuf.Timestamp' && field.fieldKind === 'message') return timeAt(field, parsed)
  if (field.message?.typeName.startsWith('google.protobuf.') || field.fieldKind === 'map') return parsed
  if (field.fieldKind === 'message') return orParsed(OBJECT, partAt(field.number, field.message), parsed)
  if (field.fieldKind !== 'list') return parsed
  if (field.listKind === 'message') return listAt(partAt(field.number, field.message), parsed)
  return field.scalar === ScalarType.STRING ? listAt(itemAt(field), parsed) : parsed
}

/** Parses the value and leaves it to the encoder from JSON. */
function parsedAt(field: DescField): EncodeAt {
  const encode = fieldEncoder(field)
  return (writer, cursor) => {
    const value: unknown = JSON.parse(cursor.value())
    if (value !== null) encode(writer, value)
  }
}

function orParsed(first: number, encode: EncodeAt, parsed: EncodeAt): EncodeAt {
  return (writer, cursor) => (cursor.letter === first ? encode(writer, cursor) : parsed(writer, cursor))
}

/** A text between quotes is copied as it stands, unless it holds an escape. */
function textAt(field: DescField, parsed: EncodeAt): EncodeAt {
  const tag = tagOf(field.number, ScalarType.STRING)
  const isKept = hasPresence(field)
  return (writer, cursor) => {
    if (cursor.letter !== QUOTE) return parsed(writer, cursor)
    if (!isKept && cursor.bytes[cursor.at + 1] === QUOTE) cursor.at += 2
    else copy(tag, writer, cursor)
  }
}

function copy(tag: number, writer: ByteWriter, cursor: JsonCursor): void {
  writer.varint(tag)
  const end = writer.copyText(cursor.bytes, cursor.at + 1)
  if (end > 0) cursor.at = end
  else writer.text(JSON.parse(cursor.value()) as string)
}

function itemAt({ number }: DescField): EncodeAt {
  const tag = tagOf(number, ScalarType.STRING)
  return (writer, cursor) => {
    if (cursor.letter !== QUOTE) throw UNUSUAL
    copy(tag, writer, cursor)
  }
}

const FALSE_TEXT = Buffer.from('false')
const TRUE_TEXT = Buffer.from('true')

function flagAt(field: DescField, parsed: EncodeAt): EncodeAt {
  const tag = tagOf(field.number, ScalarType.BOOL)
  const isKept = hasPresence(field)
  return (writer, cursor) => {
    if (cursor.letter === TRUE && cursor.passesAll(TRUE_TEXT)) {
      writer.varint(tag)
      writer.varint(1)
    } else if (isKept || !cursor.passesAll(FALSE_TEXT)) parsed(writer, cursor)
  }
}

const ZULU = 0x5a

/** A time in UTC is read without a parser: an escape would make it no time. */
function timeAt(field: DescField, parsed: EncodeAt): EncodeAt {
  const encode = fieldEncoder(field)
  return (writer, cursor) => {
    const end = cursor.letter === QUOTE ? cursor.bytes.indexOf(QUOTE, cursor.at + 1) : -1
    if (cursor.bytes[end - 1] !== ZULU) return parsed(writer, cursor)
    const from = cursor.at + 1
    cursor.at = end + 1
    encode(writer, cursor.bytes.toString('latin1', from, end))
  }
}

function listAt(each: EncodeAt, parsed: EncodeAt): EncodeAt {
  return (writer, cursor) => {
    if (!cursor.passes(LIST)) return parsed(writer, cursor)
    if (cursor.passes(LIST_END)) return
    do each(writer, cursor)
    while (cursor.passes(COMMA))
    if (!cursor.passes(LIST_END)) throw UNUSUAL
  }
}
