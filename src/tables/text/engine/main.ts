import { isSame } from './copy'
import { readRow } from './read'
import { CLOSE_LIST, COLON, COMMA, endOfString, endOfValue, OPEN_LIST, OPEN_OBJECT, QUOTE, skipSpaces, TEXT } from './scan'
import {
  BEGIN,
  COUNT,
  END,
  FIRST_BEGIN,
  FIRST_END,
  IDENTIFIED,
  LAST_BEGIN,
  LAST_END,
  LOOK,
  MOST_SEEN,
  OUT_END,
  SECOND,
  SEEN,
  SEEN_END,
  SLOTS,
} from './table'
import { writeRow } from './write'

/** Returns the beginning of the object's member with this name, quotes included; 0 if it has none. Members before it are only skipped. */
export function find(object: usize, name: usize, length: usize): usize {
  if (load<u8>(object) !== OPEN_OBJECT) return 0
  let at = object
  while (true) {
    at = skipSpaces(at + 1)
    if (isSame(at, name, length)) return at
    if (load<u8>(at) !== QUOTE) return 0
    at = endOfString(at)
    if (at === 0) return 0
    at = skipSpaces(at)
    if (load<u8>(at) !== COLON) return 0
    at = endOfValue(skipSpaces(at + 1))
    if (at === 0) return 0
    at = skipSpaces(at)
    if (load<u8>(at) !== COMMA) return 0
  }
}

/**
 * Writes the v1 rows of the list of v2 rows whose name ends here, each after a comma. Returns the end of the list, or 0 if it is not as
 * expected. The table describes v1's rows and takes the results: number of rows, their end, comma of the second row, first and last uid.
 * The table's first slot holds the uid.
 */
export function translate(table: usize, name: usize, rows: usize): usize {
  const colon = skipSpaces(name)
  if (load<u8>(colon) !== COLON) return 0
  const list = skipSpaces(colon + 1)
  if (load<u8>(list) !== OPEN_LIST) return 0
  let at = skipSpaces(list + 1)
  let out = rows
  let count = 0
  const identified = load<i32>(table, IDENTIFIED) !== 0
  if (load<u8>(at) !== CLOSE_LIST) {
    if (identified) memory.fill(SEEN, 0, SEEN_END - SEEN)
    while (true) {
      at = readRow(table, at)
      if (at === 0 || !isComplete(table) || (identified && wasSeen(table, count))) return 0
      store<u8>(out, COMMA)
      out = writeRow(table, out + 1)
      if (count === 0) tellUid(table, FIRST_BEGIN, FIRST_END)
      if (count === 0) store<usize>(table, out, SECOND)
      count += 1
      at = skipSpaces(at)
      const code = load<u8>(at)
      if (code === CLOSE_LIST) break
      if (code !== COMMA) return 0
      at = skipSpaces(at + 1)
    }
    tellUid(table, LAST_BEGIN, LAST_END)
  }
  store<i32>(table, count, COUNT)
  store<usize>(table, out, OUT_END)
  return at + 1
}

/** True if the row has the uid that it must have. A uid with escapes is left to the parser as well. */
function isComplete(table: usize): bool {
  if (load<i32>(table, IDENTIFIED) === 0) return true
  const uid = load<usize>(table, SLOTS)
  return load<i32>(uid, LOOK) === TEXT && load<usize>(uid, END) - load<usize>(uid, BEGIN) > 2
}

/**
 * Remembers the row's uid; true if a row before it has the same, or if there are more rows than a page holds. The place of a uid follows
 * from the last eight bytes of its text; the next free one is taken.
 */
function wasSeen(table: usize, count: i32): bool {
  if (count >= MOST_SEEN) return true
  const uid = load<usize>(table, SLOTS)
  const begin = load<usize>(uid, BEGIN)
  const length = load<usize>(uid, END) - begin
  const word = length > 9 ? load<u64>(begin + length - 9) : load<u64>(begin) << ((<u64>(8 - min<usize>(length, 8))) << 3)
  const hash = <u32>(word ^ (word >> 32)) * 0x9e3779b1
  let place = SEEN + ((<usize>(hash >> 22)) << 2)
  let known = load<u32>(place)
  while (known !== 0) {
    if (isSame(known, begin, length)) return true
    place = place + 4 < SEEN_END ? place + 4 : SEEN
    known = load<u32>(place)
  }
  store<u32>(place, <u32>begin)
  return false
}

/** Stores the position of the row's uid, without its quotes; 0 if it has no plain one. */
function tellUid(table: usize, begin: usize, end: usize): void {
  const uid = load<usize>(table, SLOTS)
  const plain = load<i32>(uid, LOOK) === TEXT
  store<usize>(table + begin, plain ? load<usize>(uid, BEGIN) + 1 : 0)
  store<usize>(table + end, plain ? load<usize>(uid, END) - 1 : 0)
}
