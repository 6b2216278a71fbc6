import { type DescField, ScalarType } from '@bufbuild/protobuf'
import type { ByteWriter } from './byte-writer.ts'
import { fieldEncoder, hasPresence } from './encode-json.ts'
import { readUsual, usualEnd, writeMoment } from './encode-timestamp.ts'
import { type JsonCursor, UNUSUAL } from './json-cursor.ts'
import { DELIMITED, tagOf } from './wire-scalar.ts'

/** Writes the value at the cursor, with its tag. */
export type EncodeAt = (writer: ByteWriter, cursor: JsonCursor) => void

const QUOTE = 0x22
const COMMA = 0x2c
const LIST = 0x5b
const LIST_END = 0x5d
const TRUE = 0x74

/** Parses the value and leaves it to the encoder from JSON. */
export function parsedAt(field: DescField): EncodeAt {
  const encode = fieldEncoder(field)
  return (writer, cursor) => {
    const value: unknown = JSON.parse(cursor.value())
    if (value !== null) encode(writer, value)
  }
}

/** A text between quotes is copied as it stands, unless it holds an escape. */
export function textAt(field: DescField, parsed: EncodeAt): EncodeAt {
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

/** A text within a list. */
export function itemAt({ number }: DescField): EncodeAt {
  const tag = tagOf(number, ScalarType.STRING)
  return (writer, cursor) => {
    if (cursor.letter !== QUOTE) throw UNUSUAL
    copy(tag, writer, cursor)
  }
}

const FALSE_TEXT = Buffer.from('false')
const TRUE_TEXT = Buffer.from('true')

/** True, or false where that is sent. */
export function flagAt(field: DescField, parsed: EncodeAt): EncodeAt {
  const tag = tagOf(field.number, ScalarType.BOOL)
  const isKept = hasPresence(field)
  return (writer, cursor) => {
    if (cursor.letter === TRUE && cursor.passesAll(TRUE_TEXT)) {
      writer.varint(tag)
      writer.varint(1)
    } else if (isKept || !cursor.passesAll(FALSE_TEXT)) parsed(writer, cursor)
  }
}

/** A time in UTC is read letter by letter: an escape would make it no time. */
export function timeAt({ number }: DescField, parsed: EncodeAt): EncodeAt {
  const tag = number * 8 + DELIMITED
  return (writer, cursor) => {
    const from = cursor.at + 1
    const end = cursor.letter === QUOTE ? usualEnd(cursor.bytes, from) : -1
    const moment = end > 0 && cursor.bytes[end + 1] === QUOTE ? readUsual(cursor.bytes, from, end) : undefined
    if (!moment) return parsed(writer, cursor)
    cursor.at = end + 2
    writer.varint(tag)
    const start = writer.open(1)
    writeMoment(writer, moment)
    writer.close(start, 1)
  }
}

/** A list whose items are written one by one. */
export function listAt(each: EncodeAt, parsed: EncodeAt): EncodeAt {
  return (writer, cursor) => {
    if (!cursor.passes(LIST)) return parsed(writer, cursor)
    if (cursor.passes(LIST_END)) return
    do each(writer, cursor)
    while (cursor.passes(COMMA))
    if (!cursor.passes(LIST_END)) throw UNUSUAL
  }
}
