import { isSame } from '../../../tables/text/engine/copy'
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  look,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  TEXT,
} from '../../../tables/text/engine/scan'
import {
  BIT,
  FIRST,
  FLAG_KIND,
  KEY,
  KEY_LENGTH,
  KIND,
  MEMBER,
  MEMBERS,
  MEMBERS_END,
  NEXT,
  PART,
  PART_KIND,
  PARTS_KIND,
  TEXT_KIND,
  TEXTS_KIND,
  TIME_KIND,
  WIDTH,
} from './layout'
import { putMoment } from './moment'
import { close, moveTo, open, out, putTag } from './output'
import { byHost, flag, text, texts } from './plain'

/**
 * Writes the rows between two places, objects with commas between and perhaps before them, as values of this member. A zero byte follows them.
 * Returns the end of what it wrote; 0 if only a parser reads them.
 */
export function encode(list: usize, from: usize, end: usize, to: usize): usize {
  moveTo(to)
  for (let at = from; at < end; ) {
    at = load<u8>(at) === COMMA ? at + 1 : part(list, at)
    if (at === 0) return 0
  }
  return out
}

/** Writes the object that begins here with its tag and its length. Returns its end; 0 if only a parser reads it, as all functions below do. */
function part(member: usize, from: usize): usize {
  putTag(member)
  const width = load<usize>(member, WIDTH)
  const start = open(width)
  const end = object(load<usize>(member, PART), from)
  if (end !== 0) store<usize>(member, close(start, width), WIDTH)
  return end
}

/**
 * Writes the members in their order. Objects are alike, so each is first expected behind the one before it, as it stood last. A parser knows which
 * of two members of one field counts.
 */
function object(message: usize, from: usize): usize {
  if (load<u8>(from) !== OPEN_OBJECT) return 0
  if (load<u8>(from, 1) === CLOSE_OBJECT) return from + 2
  let place = message + FIRST
  let seen: u64 = 0
  let at = from
  while (true) {
    at += 1
    const expected = load<usize>(place)
    const member = expected !== 0 && isKey(expected, at) ? expected : memberAt(message, at)
    if (member !== 0) {
      const bit = load<u64>(member, BIT)
      if ((seen & bit) !== 0) return 0
      seen |= bit
      store<usize>(place, member)
      place = member + NEXT
      at = value(member, at + load<usize>(member, KEY_LENGTH))
    } else at = endOfUnknown(at)
    if (at === 0) return 0
    const code = load<u8>(at)
    if (code === CLOSE_OBJECT) return at + 1
    if (code !== COMMA) return 0
  }
}

function isKey(member: usize, at: usize): bool {
  return isSame(at, load<usize>(member, KEY), load<usize>(member, KEY_LENGTH))
}

/** Returns the member whose key stands here; 0 if the message has none. */
function memberAt(message: usize, at: usize): usize {
  const end = load<usize>(message, MEMBERS_END)
  for (let member = load<usize>(message, MEMBERS); member < end; member += MEMBER) if (isKey(member, at)) return member
  return 0
}

/** Returns the end of a member that the message does not have. A name with an escape may be one that it has. */
function endOfUnknown(at: usize): usize {
  const end = load<u8>(at) === QUOTE ? endOfString(at) : 0
  return end === 0 || look !== TEXT || load<u8>(end) !== COLON ? 0 : endOfValue(end + 1)
}

function value(member: usize, from: usize): usize {
  const kind = load<i32>(member, KIND)
  const code = load<u8>(from)
  if (code === QUOTE) {
    if (kind === TEXT_KIND) return text(member, from)
    const end = kind === TIME_KIND ? putMoment(member, from) : 0
    return end === 0 ? byHost(member, from) : end
  }
  if (kind === FLAG_KIND) return flag(member, from)
  if (code === OPEN_OBJECT && kind === PART_KIND) return part(member, from)
  if (code === OPEN_LIST && kind === TEXTS_KIND) return texts(member, from)
  if (code === OPEN_LIST && kind === PARTS_KIND) return parts(member, from)
  return byHost(member, from)
}

function parts(member: usize, from: usize): usize {
  if (load<u8>(from, 1) === CLOSE_LIST) return from + 2
  let at = from
  do {
    at = part(member, at + 1)
    if (at === 0) return 0
  } while (load<u8>(at) === COMMA)
  return load<u8>(at) === CLOSE_LIST ? at + 1 : 0
}
