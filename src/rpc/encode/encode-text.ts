import { isUtf8 } from 'node:buffer'
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import type { ByteWriter } from './byte-writer.ts'
import { type EncodeAt, flagAt, itemAt, listAt, parsedAt, textAt, timeAt } from './encode-at.ts'
import { JsonCursor, UNUSUAL } from './json-cursor.ts'
import { partWriter } from './write-part.ts'

/** Writes rows from their JSON text: objects with commas between and perhaps before them. Returns false if JSON must be parsed instead. */
export type EncodeRowsText = (writer: ByteWriter, text: Buffer) => boolean

/** A member of an object. Rows are alike, so the member that followed it last most often follows again. */
interface Member {
  /** `"name":`. */
  readonly key: Uint8Array
  readonly encode: EncodeAt
  next: Member | undefined
}

const COMMA = 0x2c
const OBJECT = 0x7b
const OBJECT_END = 0x7d

/**
 * Compiles the encoder of a list from text: neither a tree nor its strings are made, which halves the cost of a list. Members are written as they
 * stand, so their order on the wire is that of the text. What is not plain text goes through the encoder from JSON, value by value.
 */
export function rowsTextEncoder({ number, message }: { readonly number: number; readonly message: DescMessage }): EncodeRowsText {
  const encode = partWriter(number, membersAt(message))
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
  if (field.fieldKind === 'message') return orParsed(OBJECT, partWriter(field.number, membersAt(field.message)), parsed)
  if (field.fieldKind !== 'list') return parsed
  if (field.listKind === 'message') return listAt(partWriter(field.number, membersAt(field.message)), parsed)
  return field.scalar === ScalarType.STRING ? listAt(itemAt(field), parsed) : parsed
}

function orParsed(first: number, encode: EncodeAt, parsed: EncodeAt): EncodeAt {
  return (writer, cursor) => (cursor.letter === first ? encode(writer, cursor) : parsed(writer, cursor))
}
