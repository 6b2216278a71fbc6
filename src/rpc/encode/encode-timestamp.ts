import { fromJson, type JsonValue } from '@bufbuild/protobuf'
import { TimestampSchema } from '@bufbuild/protobuf/wkt'
import type { ByteWriter } from './byte-writer.ts'
import { writeScalar } from './wire-scalar.ts'

/** The tags of its two fields. */
const SECONDS = 0x08
const NANOS = 0x10

/** Writes the fields of a google.protobuf.Timestamp. Throws if the value is no time. */
export function encodeTimestamp(writer: ByteWriter, json: unknown): void {
  const { seconds, nanos } = readTimestamp(json)
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
const ZERO = 48

/**
 * Reads an RFC 3339 time. Services write nearly all of them as `2026-11-22T08:09:10.123456Z`; those are read here, because the library takes five
 * times as long, and a row holds two or three. All others are the library's.
 */
function readTimestamp(json: unknown): Moment {
  const usual = typeof json === 'string' ? readUsual(json) : undefined
  if (usual) return usual
  const { seconds, nanos } = fromJson(TimestampSchema, json as JsonValue)
  return { seconds: Number(seconds), nanos }
}

/** Reads `YYYY-MM-DDThh:mm:ss[.f…]Z`. Days after the 28th depend on their month and year; the library knows them. */
function readUsual(text: string): Moment | undefined {
  const { length } = text
  if (length < 20 || length > 30 || text[length - 1] !== 'Z') return undefined
  if (text[4] !== '-' || text[7] !== '-' || text[10] !== 'T' || text[13] !== ':' || text[16] !== ':') return undefined
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 7)
  const day = digits(text, 8, 10)
  const hour = digits(text, 11, 13)
  const minute = digits(text, 14, 16)
  const second = digits(text, 17, 19)
  if (!(year > 0 && month > 0 && month <= 12 && day > 0 && day <= 28 && hour < 24 && minute < 60 && second < 60)) return undefined
  const nanos = length === 20 ? 0 : nanosOf(text, length - 1)
  if (Number.isNaN(nanos)) return undefined
  return { seconds: days(year, month, day) * DAY + hour * 3600 + minute * 60 + second, nanos }
}

/** Returns the number that the letters from `from` to before `to` write; NaN if one is no digit. */
function digits(text: string, from: number, to: number): number {
  let number = 0
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return Number.NaN
    number = number * 10 + digit
  }
  return number
}

/** Nanoseconds that a fraction counts for each of its lengths, from one digit to nine. */
const SCALES = [1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 100, 10, 1]

function nanosOf(text: string, end: number): number {
  return text[19] === '.' && end > 20 ? digits(text, 20, end) * (SCALES[end - 21] ?? Number.NaN) : Number.NaN
}

/** Returns the days since 1970 of a date. The year begins in March here, so that a leap day is its last. */
function days(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}
