/** Reading JSON in memory. A zero byte, which JSON cannot hold, follows the text, so that no function checks for its end. */

/** How a value is written; `LOOKS` in engine.ts has the same order. */
export const ABSENT: i32 = 0
/** A string without escapes. */
export const TEXT: i32 = 1
/** A string whose escapes are those that JavaScript would write. */
export const ESCAPED: i32 = 2
/** A list of such strings, without spaces. */
export const TEXTS: i32 = 3
export const TRUE: i32 = 4
export const FALSE: i32 = 5
export const NULL: i32 = 6
/** At most 15 digits, in JavaScript's own form. */
export const INTEGER: i32 = 7
/** Any other value: it has been parsed. */
export const OTHER: i32 = 8

export const SPACE: u8 = 0x20
export const QUOTE: u8 = 0x22
export const COMMA: u8 = 0x2c
export const COLON: u8 = 0x3a
export const OPEN_LIST: u8 = 0x5b
export const CLOSE_LIST: u8 = 0x5d
export const OPEN_OBJECT: u8 = 0x7b
export const CLOSE_OBJECT: u8 = 0x7d
const MINUS: u8 = 0x2d
const ZERO: u8 = 0x30
const BACKSLASH: u8 = 0x5c
const EXACT_DIGITS: usize = 15

/** Four letters in memory order. */
const TRUE_WORD: u32 = 0x65757274
const ALSE_WORD: u32 = 0x65736c61
const NULL_WORD: u32 = 0x6c6c756e

/** The digits of the longest integer that surely has 32 bits. */
export const SHORT_INTEGER: usize = 9

/** The look of the last value read. */
export let look: i32 = ABSENT

/** Returns the end of the spaces. Most texts have none. */
export function skipSpaces(from: usize): usize {
  return load<u8>(from) === SPACE ? endOfSpaces(from) : from
}

function endOfSpaces(from: usize): usize {
  let at = from + 1
  while (load<u8>(at) === SPACE) at += 1
  return at
}

/**
 * Returns one bit for each of 16 bytes that is a quote, a backslash or a control character. Without its second bit, a quote is a space,
 * and no letter becomes as small as that.
 */
function stopsAt(at: usize): i32 {
  const bytes = v128.load(at)
  const small = i8x16.le_u(v128.xor(bytes, i8x16.splat(2)), i8x16.splat(SPACE))
  return i8x16.bitmask(v128.or(small, i8x16.eq(bytes, i8x16.splat(BACKSLASH))))
}

/** Returns the first quote, backslash or control character. */
export function nextStop(from: usize): usize {
  let at = from
  let stops = stopsAt(at)
  while (stops === 0) {
    at += 16
    stops = stopsAt(at)
  }
  return at + ctz(stops)
}

/** Returns the end of the string that begins here; 0 if it holds a control character or the text ends. */
export function endOfString(from: usize): usize {
  look = TEXT
  let at = from + 1
  while (true) {
    at = nextStop(at)
    const code = load<u8>(at)
    if (code === QUOTE) return at + 1
    const escaped = load<u8>(at, 1)
    if (code !== BACKSLASH || escaped < SPACE) return 0
    look = look !== OTHER && isShort(escaped) ? ESCAPED : OTHER
    at += 2
  }
}

/** True if JavaScript writes this escape as well. */
function isShort(code: u8): bool {
  return code === QUOTE || code === BACKSLASH || code === 0x62 || code === 0x66 || code === 0x6e || code === 0x72 || code === 0x74
}

/** Returns the end of the value that begins here and sets its look; 0 if no value can begin so. */
export function endOfValue(from: usize): usize {
  const code = load<u8>(from)
  if (code === QUOTE) return endOfString(from)
  if (code === OPEN_LIST) {
    const end = endOfTexts(from)
    if (end !== 0) return end
  }
  if (code === OPEN_LIST || code === OPEN_OBJECT) return endOfNested(from)
  return endOfWord(from)
}

/** Returns the end of the list of strings that begins here; 0 if it is none, or cannot be copied. */
function endOfTexts(from: usize): usize {
  look = TEXTS
  let at = from + 1
  if (load<u8>(at) === CLOSE_LIST) return at + 1
  while (true) {
    if (load<u8>(at) !== QUOTE) return 0
    const stop = nextStop(at + 1)
    at = load<u8>(stop) === QUOTE ? stop + 1 : endOfString(at)
    if (at === 0 || look === OTHER) return 0
    look = TEXTS
    const code = load<u8>(at)
    if (code !== COMMA) return code === CLOSE_LIST ? at + 1 : 0
    at += 1
  }
}

/** Returns the end of the list or object that begins here, without checking its content. */
function endOfNested(from: usize): usize {
  let depth = 0
  let at = from
  do {
    const code = load<u8>(at)
    if (code === 0) return 0
    if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1
    at = code === QUOTE ? endOfString(at) : at + 1
    if (at === 0) return 0
  } while (depth > 0)
  look = OTHER
  return at
}

/** Returns the end of the word or number that begins here. */
function endOfWord(from: usize): usize {
  const word = load<u32>(from)
  if (word === TRUE_WORD) return wordOf(TRUE, from + 4)
  if (word === NULL_WORD) return wordOf(NULL, from + 4)
  if (load<u32>(from, 1) === ALSE_WORD && <u8>word === 0x66) return wordOf(FALSE, from + 5)
  const digits = load<u8>(from) === MINUS ? from + 1 : from
  let at = digits
  while (isDigit(load<u8>(at))) at += 1
  const length = at - digits
  const plain = length > 0 && length <= EXACT_DIGITS && (load<u8>(digits) !== ZERO || (length === 1 && digits === from))
  if (plain && isEnd(load<u8>(at))) return wordOf(INTEGER, at)
  while (!isEnd(load<u8>(at))) at += 1
  return at === from ? 0 : wordOf(OTHER, at)
}

function wordOf(kind: i32, end: usize): usize {
  look = kind
  return end
}

function isDigit(code: u8): bool {
  return code - ZERO <= 9
}

function isEnd(code: u8): bool {
  return code <= SPACE || code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT
}

const ZULU: u8 = 0x5a
const POINT: u8 = 0x2e

/** The bytes of a time in quotes: without a fraction, and with the longest. */
const SHORTEST_TIME: usize = 22
const LONGEST_TIME: usize = 32

/** The months of 31 days, one bit each. */
const LONG_MONTHS: i32 = 0x15aa

/**
 * True if the text in quotes is surely a time: `YYYY-MM-DDThh:mm:ss[.f…]Z`. The last day of a leap year's February and times with another zone
 * are left to the parser.
 */
export function isMoment(from: usize, end: usize): bool {
  const length = end - from
  if (length < SHORTEST_TIME || length > LONGEST_TIME || length === SHORTEST_TIME + 1 || load<u8>(end - 2) !== ZULU) return false
  const at = from + 1
  const parts = i8x16.sub(v128.load(at), i8x16(48, 48, 48, 48, 45, 48, 48, 45, 48, 48, 84, 48, 48, 58, 48, 48))
  const most = i8x16(9, 9, 9, 9, 0, 1, 9, 0, 3, 9, 0, 2, 9, 0, 5, 9)
  if (i8x16.bitmask(i8x16.le_u(parts, most)) !== 0xffff || load<u32>(at) === 0x30303030) return false
  const month = twoDigits(at + 5)
  const day = twoDigits(at + 8)
  if (month === 0 || month > 12 || day === 0 || twoDigits(at + 11) > 23) return false
  if (day > 28 && (month === 2 || day > 31 || (day === 31 && ((LONG_MONTHS >> month) & 1) === 0))) return false
  if (load<u8>(at, 16) !== COLON || load<u8>(at, 17) - ZERO > 5 || !isDigit(load<u8>(at, 18))) return false
  if (length === SHORTEST_TIME) return true
  // The fraction ends the sixteen bytes before the Z.
  const digits = i8x16.bitmask(i8x16.le_u(i8x16.sub(v128.load(end - 18), i8x16.splat(ZERO)), i8x16.splat(9)))
  const others = <i32>(39 - length)
  return load<u8>(at, 19) === POINT && digits >> others === 0xffff >> others
}

function twoDigits(at: usize): i32 {
  return <i32>(load<u8>(at) - ZERO) * 10 + <i32>(load<u8>(at, 1) - ZERO)
}
