import { isSame } from './copy'
import { parse } from './host'
import { ABSENT, CLOSE_OBJECT, COLON, COMMA, endOfString, endOfValue, look, OPEN_OBJECT, OTHER, QUOTE, skipSpaces, TEXT } from './scan'
import { BEGIN, END, KEY, KEY_LENGTH, LOOK, NAME, ORDER, ORDER_END, SLOT, SLOTS, SLOTS_END, VALUE } from './table'

/** Finds the members of the row that begins here. Returns the row's end, or 0 if it is no row. */
export function readRow(table: usize, from: usize): usize {
  if (load<u8>(from) !== OPEN_OBJECT) return 0
  const slotsEnd = load<usize>(table, SLOTS_END)
  for (let slot = load<usize>(table, SLOTS); slot < slotsEnd; slot += SLOT) store<i32>(slot, ABSENT, LOOK)
  let place = load<usize>(table, ORDER)
  const lastPlace = load<usize>(table, ORDER_END) - 4
  let at = from
  while (true) {
    at = readMember(table, place, skipSpaces(at + 1))
    if (at === 0) return 0
    at = skipSpaces(at)
    const code = load<u8>(at)
    if (code === CLOSE_OBJECT) return at + 1
    if (code !== COMMA) return 0
    if (place < lastPlace) place += 4
  }
}

/** Reads one member. Rows share one order of members: each is first expected where the row before had it, which `place` remembers. */
function readMember(table: usize, place: usize, name: usize): usize {
  let slot = load<usize>(place)
  const keyLength = slot === 0 ? <usize>0 : load<usize>(slot, KEY_LENGTH)
  let at: usize
  if (slot !== 0 && isSame(name, load<usize>(slot, KEY), keyLength)) {
    at = name + keyLength
  } else {
    const end = load<u8>(name) === QUOTE ? endOfString(name) : 0
    if (end === 0 || look !== TEXT) return 0
    slot = slotOf(table, name, end - name)
    store<usize>(place, slot)
    at = skipSpaces(end)
    if (load<u8>(at) !== COLON) return 0
    at += 1
  }
  const begin = skipSpaces(at)
  const end = endOfValue(begin)
  if (end === 0) return 0
  const value = look === OTHER ? parse(begin, end) : 0
  if (slot === 0) return end
  store<i32>(slot, look, LOOK)
  store<usize>(slot, begin - name === load<usize>(slot, KEY_LENGTH) ? name : 0, NAME)
  store<usize>(slot, begin, BEGIN)
  store<usize>(slot, end, END)
  store<i32>(slot, value, VALUE)
  return end
}

/** Returns the slot of the member with this name, quotes included; 0 if no column uses it. */
function slotOf(table: usize, name: usize, length: usize): usize {
  const end = load<usize>(table, SLOTS_END)
  for (let slot = load<usize>(table, SLOTS); slot < end; slot += SLOT) {
    if (load<usize>(slot, KEY_LENGTH) === length + 1 && isSame(name, load<usize>(slot, KEY), length)) return slot
  }
  return 0
}
