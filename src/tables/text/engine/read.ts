import { isSame } from './copy'
import { parse } from './host'
import {
  ABSENT,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  look,
  nextStop,
  OPEN_OBJECT,
  OTHER,
  QUOTE,
  skipSpaces,
  TEXT,
} from './scan'
import { BEGIN, END, KEY, KEY_BITS, KEY_LENGTH, LOOK, ORDER, ORDER_END, SLOT, SLOTS, SLOTS_END, VALUE } from './table'

/**
 * Finds the members of the row that begins here. Returns the row's end, or 0 if it is no row. Rows share one order of members: each is
 * first expected where the row before had it, which `place` remembers.
 */
export function readRow(table: usize, from: usize): usize {
  if (load<u8>(from) !== OPEN_OBJECT) return 0
  const slotsEnd = load<usize>(table, SLOTS_END)
  for (let slot = load<usize>(table, SLOTS); slot < slotsEnd; slot += SLOT) store<i32>(slot, ABSENT, LOOK)
  let place = load<usize>(table, ORDER)
  const lastPlace = load<usize>(table, ORDER_END) - 4
  let at = from
  while (true) {
    const name = skipSpaces(at + 1)
    const slot = load<usize>(place)
    if (slot === 0 || !isKey(slot, name)) at = readNamed(table, place, name)
    else {
      const begin = skipSpaces(name + load<usize>(slot, KEY_LENGTH))
      const stop = load<u8>(begin) === QUOTE ? nextStop(begin + 1) : begin
      at = stop !== begin && load<u8>(stop) === QUOTE ? tellValue(slot, TEXT, begin, stop + 1) : readValue(slot, begin)
    }
    if (at === 0) return 0
    at = skipSpaces(at)
    const code = load<u8>(at)
    if (code === CLOSE_OBJECT) return at + 1
    if (code !== COMMA) return 0
    if (place < lastPlace) place += 4
  }
}

/** Stores where a value was found, and returns its end. */
function tellValue(slot: usize, kind: i32, begin: usize, end: usize): usize {
  store<i32>(slot, kind, LOOK)
  const usual = begin + load<usize>(slot, END) - load<usize>(slot, BEGIN)
  store<usize>(slot, begin, BEGIN)
  // Most values are as long as that of the row before. The processor then goes on without waiting for the end that was found.
  if (end === usual) {
    store<usize>(slot, usual, END)
    return usual
  }
  store<usize>(slot, end, END)
  return end
}

/** True if the slot's `"name":` is here. */
function isKey(slot: usize, at: usize): bool {
  const key = load<usize>(slot, KEY)
  const begins = load<i32>(slot, KEY_BITS)
  if ((i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(key))) & begins) !== begins) return false
  const length = load<usize>(slot, KEY_LENGTH)
  return length <= 16 || isSame(at + 16, key + 16, length - 16)
}

/** Reads a member that is not where the row before had it. */
function readNamed(table: usize, place: usize, name: usize): usize {
  const end = load<u8>(name) === QUOTE ? endOfString(name) : 0
  if (end === 0 || look !== TEXT) return 0
  const slot = slotOf(table, name, end - name)
  store<usize>(place, slot)
  const at = skipSpaces(end)
  return load<u8>(at) === COLON ? readValue(slot, skipSpaces(at + 1)) : 0
}

/** Reads a value of any kind; `slot` is 0 if no column uses it. */
function readValue(slot: usize, begin: usize): usize {
  const end = endOfValue(begin)
  if (end === 0) return 0
  const value = look === OTHER ? parse(begin, end) : 0
  if (slot === 0) return end
  store<i32>(slot, value, VALUE)
  return tellValue(slot, look, begin, end)
}

/** Returns the slot of the member with this name, quotes included; 0 if no column uses it. */
function slotOf(table: usize, name: usize, length: usize): usize {
  const end = load<usize>(table, SLOTS_END)
  for (let slot = load<usize>(table, SLOTS); slot < end; slot += SLOT) {
    if (load<usize>(slot, KEY_LENGTH) === length + 1 && isSame(name, load<usize>(slot, KEY), length)) return slot
  }
  return 0
}
