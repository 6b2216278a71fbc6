/** A JSON text and how far it has been read. */
export interface Scan {
  readonly text: string
  /** Behind what was read last. */
  at: number
  /** Where the next backslash stands; the length of the text when there is none. */
  escape: number
  /** The value that was read last, when it was not plain. */
  value: unknown
}

/** How a value is written. Plain ones can be copied; of the others the scan holds the parsed value. */
export const LOOK = {
  absent: 0,
  /** A string without escapes. */
  text: 1,
  /** A list of such strings, without white space. */
  texts: 2,
  true: 3,
  false: 4,
  null: 5,
  /** Written as JavaScript would write it. */
  integer: 6,
  other: 7,
} as const

export type Look = (typeof LOOK)[keyof typeof LOOK]

/** Thrown where a text cannot be read this way, be it unusual JSON or none; the page is then parsed as a whole. */
export const SURPRISE = new Error('not as expected')

const QUOTE = 0x22
const SPACE = 0x20
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_LIST = 0x5b
export const CLOSE_LIST = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

/** No string may hold them as they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f]/

/** Integers of so many digits are exact in JavaScript. */
const EXACT_DIGITS = 15

/** Reads a text from its beginning, or from `at` on. */
export function scanOf(text: string, at = 0): Scan {
  const backslash = text.indexOf('\\')
  return { text, at, escape: backslash < 0 ? text.length : backslash, value: undefined }
}

/** Skips spaces; the next character. */
export function peek(scan: Scan): number {
  let code = scan.text.charCodeAt(scan.at)
  while (code === SPACE) {
    scan.at += 1
    code = scan.text.charCodeAt(scan.at)
  }
  return code
}

/** Moves behind the next character, which must be this one. */
export function expect(scan: Scan, code: number): void {
  if (peek(scan) !== code) throw SURPRISE
  scan.at += 1
}

/** Reads a member's name and the colon behind it. */
export function readName(scan: Scan): string {
  if (peek(scan) !== QUOTE) throw SURPRISE
  const begin = scan.at
  if (!skipText(scan)) throw SURPRISE
  const name = scan.text.slice(begin + 1, scan.at - 1)
  expect(scan, COLON)
  return name
}

/** Reads the value at `at`. */
export function readValue(scan: Scan): Look {
  const code = peek(scan)
  if (code === QUOTE) return skipText(scan) ? LOOK.text : parsed(scan, endOfText(scan, scan.at))
  if (code === OPEN_LIST && skipTexts(scan)) return LOOK.texts
  if (code === OPEN_LIST || code === OPEN_OBJECT) return parsed(scan, endOfNested(scan))
  return readWord(scan, code)
}

/** Moves behind the string at `at`, unless an escape stands in it. */
function skipText(scan: Scan): boolean {
  const { text, at } = scan
  const end = text.indexOf('"', at + 1) + 1
  if (end === 0) throw SURPRISE
  if (scan.escape < at) {
    const next = text.indexOf('\\', at)
    scan.escape = next < 0 ? text.length : next
  }
  if (scan.escape < end) return false
  if (CONTROL.test(text.slice(at, end))) throw SURPRISE
  scan.at = end
  return true
}

/** Moves behind the list at `at` when it holds nothing but plain strings, written without spaces. */
function skipTexts(scan: Scan): boolean {
  const { text, at } = scan
  scan.at += 1
  if (text.charCodeAt(scan.at) === CLOSE_LIST) {
    scan.at += 1
    return true
  }
  for (;;) {
    if (text.charCodeAt(scan.at) !== QUOTE || !skipText(scan)) break
    const code = text.charCodeAt(scan.at)
    scan.at += 1
    if (code === CLOSE_LIST) return true
    if (code !== COMMA) break
  }
  scan.at = at
  return false
}

/** `true`, `false`, `null` or a number. */
function readWord(scan: Scan, code: number): Look {
  const { text, at } = scan
  if (text.startsWith('true', at)) return word(scan, 4, LOOK.true)
  if (text.startsWith('false', at)) return word(scan, 5, LOOK.false)
  if (text.startsWith('null', at)) return word(scan, 4, LOOK.null)
  let end = code === MINUS ? at + 1 : at
  const digits = end
  while (isDigit(text.charCodeAt(end))) end += 1
  const length = end - digits
  const plain = length > 0 && length <= EXACT_DIGITS && (text.charCodeAt(digits) !== ZERO || (length === 1 && digits === at))
  if (!plain || !isEnd(text.charCodeAt(end))) return parsed(scan, endOfWord(text, end))
  return word(scan, end - at, LOOK.integer)
}

function word(scan: Scan, length: number, look: Look): Look {
  scan.at += length
  return look
}

const isDigit = (code: number) => code >= ZERO && code <= NINE
const isEnd = (code: number) => code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST || code === SPACE

function endOfWord(text: string, from: number): number {
  let end = from
  while (end < text.length && !isEnd(text.charCodeAt(end))) end += 1
  return end
}

/** The end of the string at `from`, escapes and all. */
function endOfText({ text }: Scan, from: number): number {
  let end = from + 1
  for (;;) {
    end = text.indexOf('"', end)
    if (end < 0) throw SURPRISE
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1
    end += 1
    if (backslashes % 2 === 0) return end
  }
}

/** The end of the list or object at `at`. */
function endOfNested(scan: Scan): number {
  const { text } = scan
  let depth = 0
  for (let end = scan.at; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    if (code === QUOTE) end = endOfText(scan, end) - 1
    else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1
    if (depth === 0) return end + 1
  }
  throw SURPRISE
}

/** Parses what stands between `at` and `end`; JSON.parse throws when that is no value. */
function parsed(scan: Scan, end: number): Look {
  scan.value = JSON.parse(scan.text.slice(scan.at, end))
  scan.at = end
  return LOOK.other
}
