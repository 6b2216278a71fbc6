import { fromJson, type JsonValue } from '@bufbuild/protobuf'
import { TimestampSchema } from '@bufbuild/protobuf/wkt'
import type { ByteWriter } from './byte-writer.ts'
import { writeScalar } from './wire-scalar.ts'

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
