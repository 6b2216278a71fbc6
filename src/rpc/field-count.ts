import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { ApiError } from '../errors.ts'
import { MOST_VALUES } from '../tables/json.ts'

/** The fewest bytes of a field: its tag and an empty value. Elements of a packed list take one each, and are few enough then. */
const LEAST = 2

/**
 * Refuses bytes that hold more fields than a body of JSON may hold values: INVALID_ARGUMENT. An empty message takes two bytes, and a hundred
 * times as many once it is decoded. Bytes that are no message are left for the decoder to refuse.
 */
export function boundFields(message: DescMessage, bytes: Uint8Array): void {
  if (bytes.length <= LEAST * MOST_VALUES) return
  const reader: Reader = { bytes, at: 0, left: MOST_VALUES }
  count(reader, bytes.length, innerOf(message))
}

interface Reader {
  readonly bytes: Uint8Array
  at: number
  /** The number of fields that may still come. */
  left: number
}

/** What a field holds: fields of its own, elements, or neither. */
type Inner = (number: number) => Inner | 'packed' | undefined

function count(reader: Reader, end: number, inner: Inner): void {
  while (reader.at < end) {
    const tag = varint(reader, end)
    take(reader, 1)
    const type = tag & 7
    if (type === VARINT) varint(reader, end)
    else if (type === LENGTH_DELIMITED) {
      const length = varint(reader, end)
      const close = Math.min(end, reader.at + length)
      const within = inner(Math.floor(tag / 8))
      if (typeof within === 'function') count(reader, close, within)
      else if (within === 'packed') take(reader, length)
      reader.at = close
    } else reader.at += SIZES[type] ?? 0
  }
}

const VARINT = 0
const LENGTH_DELIMITED = 2

/** Bytes of the values of the other types. A group has none of its own: its fields follow. */
const SIZES: Readonly<Record<number, number>> = { 1: 8, 5: 4 }

function take(reader: Reader, fields: number): void {
  reader.left -= fields
  if (reader.left < 0) throw new ApiError('INVALID_ARGUMENT', `the message holds more than ${MOST_VALUES} values`)
}

function varint(reader: Reader, end: number): number {
  let value = 0
  for (let scale = 1; reader.at < end; scale *= 128) {
    const byte = reader.bytes[reader.at++]!
    value += (byte & 127) * scale
    if (byte < 128) break
  }
  return value
}

const inners = new WeakMap<DescMessage, Inner>()

function innerOf(message: DescMessage): Inner {
  let inner = inners.get(message)
  if (!inner) {
    const fields = new Map(message.fields.map((field) => [field.number, field]))
    inner = (number) => withinField(fields.get(number))
    inners.set(message, inner)
  }
  return inner
}

function withinField(field: DescField | undefined): Inner | 'packed' | undefined {
  if (field?.message) return field.fieldKind === 'map' ? entryOf(field.message) : innerOf(field.message)
  if (field?.fieldKind === 'map') return entryOf(undefined)
  return field?.fieldKind === 'list' && field.packed ? 'packed' : undefined
}

/** An entry of a map holds a key and a value. */
function entryOf(value: DescMessage | undefined): Inner {
  return (number) => (number === 2 && value ? innerOf(value) : undefined)
}
