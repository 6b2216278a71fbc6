import { CLOSE_LIST, COMMA, endOfString, endOfValue, look, QUOTE, TEXT } from '../../../tables/text/engine/scan'
import { write } from './host'
import { FIELD, KEPT } from './layout'
import { moveTo, out, putByte, putBytes, putTag } from './output'

/** The values of a flag, each as its first four letters. */
const TRUE_WORD: u32 = 0x65757274
const FALS_WORD: u32 = 0x736c6166

/** Leaves a value to JavaScript. Returns its end, or 0, as all functions here do. */
export function byHost(member: usize, from: usize): usize {
  const end = endOfValue(from)
  if (end !== 0) moveTo(write(load<i32>(member, FIELD), from, end, out))
  return end
}

/** A text is copied as it stands, unless it holds an escape. */
export function text(member: usize, from: usize): usize {
  const end = endOfString(from)
  if (end === 0) return 0
  if (look !== TEXT) return byHost(member, from)
  const length = end - from - 2
  if (length === 0 && load<i32>(member, KEPT) === 0) return end
  putTag(member)
  putBytes(from + 1, length)
  return end
}

export function flag(member: usize, from: usize): usize {
  const word = load<u32>(from)
  if (word === TRUE_WORD) {
    putTag(member)
    putByte(1)
    return from + 4
  }
  return word === FALS_WORD && load<u8>(from, 4) === 0x65 && load<i32>(member, KEPT) === 0 ? from + 5 : byHost(member, from)
}

/** A list with an escape in it is left to the host. */
export function texts(member: usize, from: usize): usize {
  if (load<u8>(from, 1) === CLOSE_LIST) return from + 2
  const begin = out
  let at = from
  do {
    const item = at + 1
    at = load<u8>(item) === QUOTE ? endOfString(item) : 0
    if (at === 0) return 0
    if (look !== TEXT) {
      moveTo(begin)
      return byHost(member, from)
    }
    putTag(member)
    putBytes(item + 1, at - item - 2)
  } while (load<u8>(at) === COMMA)
  return load<u8>(at) === CLOSE_LIST ? at + 1 : 0
}
