import { type DescEnum, fromJson, type JsonValue, ScalarType } from '@bufbuild/protobuf'
import { TimestampSchema } from '@bufbuild/protobuf/wkt'

/** The greatest number of bytes of a varint. */
const LONGEST_VARINT = 10

/** Returns the number of bytes of a length as a varint. */
function widthOf(length: number): number {
  if (length < 0x80) return 1
  if (length < 0x40_00) return 2
  if (length < 0x20_00_00) return 3
  return length < 0x10_00_00_00 ? 4 : 5
}

/** The bytes that a writer keeps between messages, and those that it begins with. */
const [KEPT, FIRST] = [1 << 20, 1 << 16]

/** Texts up to this length are written letter by letter, which is faster than a call of Node's encoder. */
const SHORT = 40

/**
 * Writes the primitive values of protobuf into one growing buffer. Its fields are public within the encoder, because every byte passes
 * here. A class, because V8 then knows its shape.
 */
export class ByteWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST)
  #end = 0

  /** Forgets what was written, and a buffer that a large message needed. */
  begin(): void {
    if (this.#bytes.length > KEPT) this.#bytes = Buffer.allocUnsafeSlow(FIRST)
    this.#end = 0
  }

  /** Returns a copy of what was written since `begin`. */
  take(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#end))
  }

  /** Writes an unsigned number below 2^53. */
  varint(value: number): void {
    this.#room(LONGEST_VARINT)
    let rest = value
    for (; rest > 0x7f_ff_ff_ff; rest = Math.floor(rest / 0x80)) this.#bytes[this.#end++] = (rest % 0x80) | 0x80
    for (; rest > 0x7f; rest >>>= 7) this.#bytes[this.#end++] = (rest & 0x7f) | 0x80
    this.#bytes[this.#end++] = rest
  }

  /** Writes a 64-bit number in two's complement. */
  long(value: bigint): void {
    this.#room(LONGEST_VARINT)
    let rest = BigInt.asUintN(64, value)
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#end++] = Number(rest & 0x7fn) | 0x80
    this.#bytes[this.#end++] = Number(rest)
  }

  /** Writes a text with its length before it. */
  text(text: string): void {
    const { length } = text
    if (length <= SHORT && this.#ascii(text, length)) return
    this.#room(length * 3 + LONGEST_VARINT)
    const width = widthOf(length)
    const start = this.#end + width
    const written = this.#bytes.write(text, start)
    this.#settle(start, width, written)
  }

  /** Writes bytes with their length before them. */
  bytes(bytes: Uint8Array): void {
    this.varint(bytes.length)
    this.raw(bytes)
  }

  /** Writes bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#bytes.set(bytes, this.#end)
    this.#end += bytes.length
  }

  /** Begins a part whose length stands before it: `width` bytes are left for that. Returns the place of its first byte. */
  open(width: number): number {
    this.#room(width)
    this.#end += width
    return this.#end
  }

  /** Ends the part that began at `start`. Returns the number of bytes that its length took. */
  close(start: number, width: number): number {
    return this.#settle(start, width, this.#end - start)
  }

  #settle(start: number, width: number, length: number): number {
    const needed = widthOf(length)
    if (needed !== width) {
      this.#room(LONGEST_VARINT + length)
      this.#bytes.copyWithin(start - width + needed, start, start + length)
    }
    this.#end = start - width
    this.varint(length)
    this.#end += length
    return needed
  }

  /** Writes a short text if all its letters are ASCII. */
  #ascii(text: string, length: number): boolean {
    this.#room(length + 1)
    const bytes = this.#bytes
    let at = this.#end
    bytes[at++] = length
    for (let index = 0; index < length; index += 1) {
      const letter = text.charCodeAt(index)
      if (letter > 0x7f) return false
      bytes[at++] = letter
    }
    this.#end = at
    return true
  }

  #room(more: number): void {
    const needed = this.#end + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.#end))
    this.#bytes = larger
  }
}

/** Protobuf's wire types, as the last three bits of a tag. */
export const VARINT = 0
export const EIGHT_BYTES = 1
export const DELIMITED = 2

/** Returns the tag of a field; an enum has no scalar type. */
export function tagOf(number: number, scalar: ScalarType | undefined): number {
  return number * 8 + (isDelimited(scalar) ? DELIMITED : VARINT)
}

/** True if the length of such a value stands before it. */
export function isDelimited(scalar: ScalarType | undefined): boolean {
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES
}

/** A scalar as the wire has it. A number beyond 2^53 is a bigint; true is 1. */
type WireScalar = string | number | bigint | Buffer

/** Reads a JSON value. Returns undefined for the name of an enum value that nobody knows. Throws if the value is not of the type. */
export type ReadScalar = (json: unknown) => WireScalar | undefined

/** Returns how JSON values of a scalar type are read, as protojson says. The facts hold no other types; the registry refuses them. */
export function scalarReader(type: ScalarType): ReadScalar {
  switch (type) {
    case ScalarType.STRING:
      return (json) => (typeof json === 'string' ? json : unfit('a text'))
    case ScalarType.BOOL:
      return (json) => (typeof json === 'boolean' ? Number(json) : unfit('true or false'))
    case ScalarType.BYTES:
      return (json) => (typeof json === 'string' ? Buffer.from(json, 'base64') : unfit('base64'))
    case ScalarType.INT32:
      return wholeReader(-(2 ** 31), 2 ** 31)
    case ScalarType.UINT32:
      return wholeReader(0, 2 ** 32)
    case ScalarType.INT64:
      return wholeReader(-(2 ** 63), 2 ** 63)
    case ScalarType.UINT64:
      return wholeReader(0, 2 ** 64)
    default:
      throw new Error(`no method uses the type ${ScalarType[type]}`)
  }
}

/** Returns how the values of an enum are read: by name or by number. A number that nobody knows is kept, as proto3 says. */
export function enumReader({ values }: DescEnum): ReadScalar {
  const numbers = new Map(values.map(({ name, number }) => [name, number]))
  const read = wholeReader(-(2 ** 31), 2 ** 31)
  return (json) => (typeof json === 'string' ? numbers.get(json) : read(json))
}

/** Returns how an integer from `least` to below `end` is read: a number, or its text. */
function wholeReader(least: number, end: number): ReadScalar {
  return (json) => {
    const whole = wholeOf(json)
    return whole >= least && whole < end ? whole : unfit('an integer of its size')
  }
}

function wholeOf(json: unknown): number | bigint {
  if (Number.isInteger(json)) return Number.isSafeInteger(json) ? (json as number) : BigInt(json as number)
  if (typeof json !== 'string' || json.trim() === '') return unfit('an integer')
  const number = Number(json)
  if (Number.isSafeInteger(number)) return number
  return /^-?\d+$/.test(json) ? BigInt(json) : unfit('an integer')
}

/** True for the value that proto3 does not send unless the field has presence. */
export function isZero(scalar: WireScalar): boolean {
  return scalar === 0 || scalar === '' || (typeof scalar === 'object' && scalar.length === 0)
}

/** Writes a scalar without its tag. */
export function writeScalar(writer: ByteWriter, scalar: WireScalar): void {
  if (typeof scalar === 'string') writer.text(scalar)
  else if (typeof scalar === 'number' && scalar >= 0) writer.varint(scalar)
  else if (typeof scalar === 'object') writer.bytes(scalar)
  else writer.long(BigInt(scalar))
}

/** Says what a value should be. It names no value: an answer may hold secrets. */
export function unfit(what: string): never {
  throw new TypeError(`must be ${what}`)
}

/**
 * Returns what writes a message within a message from its source: the tag, the length and what `encode` writes. The length takes as many bytes as
 * that of the last one, most often.
 */
export function partWriter<T>(number: number, encode: (writer: ByteWriter, source: T) => void): (writer: ByteWriter, source: T) => void {
  const tag = number * 8 + DELIMITED
  let width = 1
  return (writer, source) => {
    writer.varint(tag)
    const start = writer.open(width)
    encode(writer, source)
    width = writer.close(start, width)
  }
}

/** The tags of its two fields. */
const SECONDS = 0x08
const NANOS = 0x10

/** Writes the fields of a google.protobuf.Timestamp. Throws if the value is no time. */
export function encodeTimestamp(writer: ByteWriter, json: unknown): void {
  writeMoment(writer, readTimestamp(json))
}

function writeMoment(writer: ByteWriter, { seconds, nanos }: Moment): void {
  if (seconds !== 0) {
    writer.varint(SECONDS)
    writeScalar(writer, seconds)
  }
  if (nanos === 0) return
  writer.varint(NANOS)
  writer.varint(nanos)
}

/** A moment since 1970. */
interface Moment {
  readonly seconds: number
  readonly nanos: number
}

const DAY = 86_400
const [ZERO, DASH, COLON, POINT] = Buffer.from('0-:.') as unknown as readonly [number, number, number, number]
const [TEE, ZULU] = Buffer.from('TZ') as unknown as readonly [number, number]

/** The number of letters of a time without a fraction and its `Z`, and with the longest. */
const [SHORTEST, LONGEST] = [19, 29]

const letters = Buffer.alloc(LONGEST + 1)

/**
 * Reads an RFC 3339 time. Services write nearly all of them as `2026-11-22T08:09:10.123456Z`; those are read here, because the library takes five
 * times as long, and a row holds two or three. All others are the library's.
 */
function readTimestamp(json: unknown): Moment {
  if (typeof json === 'string' && json.length <= letters.length) {
    const end = letters.write(json) - 1
    const usual = usualEnd(letters, 0) === end ? readUsual(letters, 0, end) : undefined
    if (usual) return usual
  }
  const { seconds, nanos } = fromJson(TimestampSchema, json as JsonValue)
  return { seconds: Number(seconds), nanos }
}

/** Returns the place of the `Z` of a time that begins at `from`; -1 if it does not stand where services write it. */
function usualEnd(bytes: Uint8Array, from: number): number {
  for (let at = from + SHORTEST; at <= from + LONGEST; at += 1) if (bytes[at] === ZULU) return at
  return -1
}

/**
 * Reads `YYYY-MM-DDThh:mm:ss[.f…]` from its letters; undefined if they are none. Days after the 28th depend on their month and year; the
 * library knows them.
 */
function readUsual(bytes: Uint8Array, from: number, end: number): Moment | undefined {
  if (bytes[from + 4] !== DASH || bytes[from + 7] !== DASH || bytes[from + 10] !== TEE) return undefined
  if (bytes[from + 13] !== COLON || bytes[from + 16] !== COLON) return undefined
  const year = digits(bytes, from, from + 4)
  const month = digits(bytes, from + 5, from + 7)
  const day = digits(bytes, from + 8, from + 10)
  const hour = digits(bytes, from + 11, from + 13)
  const minute = digits(bytes, from + 14, from + 16)
  const second = digits(bytes, from + 17, from + 19)
  if (!(year > 0 && month > 0 && month <= 12 && day > 0 && day <= 28 && hour < 24 && minute < 60 && second < 60)) return undefined
  const nanos = end - from === SHORTEST ? 0 : nanosOf(bytes, from + SHORTEST, end)
  if (Number.isNaN(nanos)) return undefined
  return { seconds: days(year, month, day) * DAY + hour * 3600 + minute * 60 + second, nanos }
}

/** Returns the number that the letters from `from` to before `to` write; NaN if one is no digit. */
function digits(bytes: Uint8Array, from: number, to: number): number {
  let number = 0
  for (let at = from; at < to; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return Number.NaN
    number = number * 10 + digit
  }
  return number
}

/** Nanoseconds that a fraction counts for each of its lengths, from one digit to nine. */
const SCALES = [1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 100, 10, 1]

function nanosOf(bytes: Uint8Array, point: number, end: number): number {
  const length = end - point - 1
  return bytes[point] === POINT && length > 0 ? digits(bytes, point + 1, end) * (SCALES[length - 1] ?? Number.NaN) : Number.NaN
}

/** Returns the days since 1970 of a date. The year begins in March here, so that a leap day is its last. */
function days(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}
