import { isSame } from './copy'
import { readRow } from './read'
import { CLOSE_LIST, COLON, COMMA, endOfString, endOfValue, OPEN_LIST, OPEN_OBJECT, QUOTE, skipSpaces, TEXT } from './scan'
import { BEGIN, COUNT, END, FIRST_BEGIN, FIRST_END, IDENTIFIED, LAST_BEGIN, LAST_END, LOOK, OUT_END, SECOND, SLOTS } from './table'
import { writeRow } from './write'

/** Where the member of this name, quotes included, begins in the object; 0 when it has none. Members before it are not looked at closely. */
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
 * Writes the v1 rows of the list of v2 rows whose name ends here, each with a comma before it; returns where the list ends, or 0 when it is
 * not as expected. The table says what v1 rows are made of, and is told what was found: how many rows, their end, where the comma of the
 * second one is, and the uids of the first and the last one, which the table's first slot holds.
 */
export function translate(table: usize, name: usize, rows: usize): usize {
  const colon = skipSpaces(name)
  if (load<u8>(colon) !== COLON) return 0
  const list = skipSpaces(colon + 1)
  if (load<u8>(list) !== OPEN_LIST) return 0
  let at = skipSpaces(list + 1)
  let out = rows
  let count = 0
  if (load<u8>(at) !== CLOSE_LIST) {
    while (true) {
      at = readRow(table, at)
      if (at === 0 || !isComplete(table)) return 0
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

/** Whether the row that was read has a uid, where rows have one; one with escapes is left to the parser as well. */
function isComplete(table: usize): bool {
  if (load<i32>(table, IDENTIFIED) === 0) return true
  const uid = load<usize>(table, SLOTS)
  return load<i32>(uid, LOOK) === TEXT && load<usize>(uid, END) - load<usize>(uid, BEGIN) > 2
}

/** Where the uid of the row that was read is, without its quotes; at 0 when it has none that is plain. */
function tellUid(table: usize, begin: usize, end: usize): void {
  const uid = load<usize>(table, SLOTS)
  const plain = load<i32>(uid, LOOK) === TEXT
  store<usize>(table + begin, plain ? load<usize>(uid, BEGIN) + 1 : 0)
  store<usize>(table + end, plain ? load<usize>(uid, END) - 1 : 0)
}
