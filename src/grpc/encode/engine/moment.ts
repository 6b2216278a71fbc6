import { COLON, QUOTE } from '../../../tables/text/engine/scan'
import { close, open, putByte, putTag, putVarint } from './output'

const ZERO: u8 = 0x30
const DASH: u8 = 0x2d
const POINT: u8 = 0x2e
const TEE: u8 = 0x54
const ZULU: u8 = 0x5a

/** The letters of a time without a fraction and its `Z`, and with the longest. */
const SHORTEST: usize = 19
const LONGEST: usize = 29

/** The tags of the two fields of google.protobuf.Timestamp. */
const SECONDS: u8 = 0x08
const NANOS: u8 = 0x10

/**
 * Writes a time whose text begins here. Returns the end of the text; 0, with nothing written, if it is none of `YYYY-MM-DDThh:mm:ss[.f…]Z` with a
 * day up to the 28th.
 */
export function putMoment(member: usize, from: usize): usize {
  const at = from + 1
  const end = endOfMoment(at)
  if (end === 0 || load<u8>(end, 1) !== QUOTE) return 0
  if (load<u8>(at, 4) !== DASH || load<u8>(at, 7) !== DASH || load<u8>(at, 10) !== TEE) return 0
  if (load<u8>(at, 13) !== COLON || load<u8>(at, 16) !== COLON) return 0
  const year = digits(at, 4)
  const month = digits(at + 5, 2)
  const day = digits(at + 8, 2)
  const hour = digits(at + 11, 2)
  const minute = digits(at + 14, 2)
  const second = digits(at + 17, 2)
  if (year <= 0 || month <= 0 || month > 12 || day <= 0 || day > 28) return 0
  if (hour < 0 || hour >= 24 || minute < 0 || minute >= 60 || second < 0 || second >= 60) return 0
  const nanos = nanosOf(at + SHORTEST, end)
  if (nanos < 0) return 0
  write(member, <i64>days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second, nanos)
  return end + 2
}

function write(member: usize, seconds: i64, nanos: i32): void {
  putTag(member)
  const start = open(1)
  if (seconds !== 0) {
    putByte(SECONDS)
    putVarint(<u64>seconds)
  }
  if (nanos !== 0) {
    putByte(NANOS)
    putVarint(nanos)
  }
  close(start, 1)
}

/** Returns the place of the `Z`; 0 if it does not stand where services write it. */
function endOfMoment(from: usize): usize {
  for (let at = from + SHORTEST; at <= from + LONGEST; at += 1) if (load<u8>(at) === ZULU) return at
  return 0
}

/** Returns the number that so many letters write; -1 if one is no digit. */
function digits(from: usize, count: usize): i32 {
  let number = 0
  for (let at = from; at < from + count; at += 1) {
    const digit: u8 = load<u8>(at) - ZERO
    if (digit > 9) return -1
    number = number * 10 + digit
  }
  return number
}

function nanosOf(point: usize, end: usize): i32 {
  if (point === end) return 0
  const length = end - point - 1
  if (load<u8>(point) !== POINT || length === 0) return -1
  let nanos = digits(point + 1, length)
  for (let at = length; at < 9; at += 1) nanos *= 10
  return nanos
}

/** Returns the days since 1970 of a date. The year begins in March here, so that a leap day is its last. */
function days(year: i32, month: i32, day: i32): i32 {
  const marchYear = month > 2 ? year : year - 1
  const era = marchYear / 400
  const yearOfEra = marchYear - era * 400
  const dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}
