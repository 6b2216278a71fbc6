import { ApiError } from '../errors.ts'

/** A parsed JSON object. Tables name the members that are read; nothing walks over the others. */
export type JsonObject = { readonly [member: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns a scalar as text, and '' for everything else.
 * `String` would call an object's `toString`, and would overflow the stack on a deeply nested array.
 */
export function asText(value: unknown): string {
  return typeof value === 'object' || value === undefined ? '' : String(value)
}

/** Returns the value at a dotted path of own members; undefined if one is missing. */
export function at(object: JsonObject, path: readonly string[]): unknown {
  let value: unknown = object
  for (const member of path) {
    if (!isObject(value) || !Object.hasOwn(value, member)) return undefined
    value = value[member]
  }
  return value
}

/** Writes v1's form of an answer. JSON.stringify fails only on excessive nesting: members of a user's map come from v2 unchanged. */
export function jsonTextOf(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    throw new ApiError('INTERNAL', 'the v2 service sent an answer that is nested too deeply', { cause })
  }
}

/** Far more than any v1 message needs, and the limit of protobuf's own readers. Unlimited depth would overflow the stack. */
const DEEPEST = 100

/** Far more than any v1 message needs. A value of two bytes takes a hundred in memory, and more once translated. */
export const MOST_VALUES = 10_000

/** Digits and signs. No number of v1 needs more, and reading a number takes time with the square of its length. */
const MOST_DIGITS = 1000

/** JSON.parse rounds integers beyond 2^53 (design §6.5). All of them have at least this many digits. */
const LONG = 16

/**
 * Parses a request body as v1 did. An empty text is no message (undefined). Integers beyond 2^53 become strings and stay exact.
 * Invalid JSON is code 3.
 */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined
  const longNumbers = survey(text)
  try {
    return JSON.parse(longNumbers.length === 0 ? text : withTexts(text, longNumbers))
  } catch (error) {
    throw new ApiError('INVALID_ARGUMENT', `the request body is not JSON: ${(error as Error).message}`)
  }
}

/** The beginning and the end of a number. */
type Span = readonly [begin: number, end: number]

const QUOTE = 34
const COMMA = 44
const MINUS = 45
const BACKSLASH = 92

/** Finds the long numbers outside strings, and refuses a text beyond the limits. Its result for invalid JSON is arbitrary. */
function survey(text: string): readonly Span[] {
  const longNumbers: Span[] = []
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) at = endOfString(text, at)
    // Each closing bracket is its opening one plus two. The bit 32 alone separates brackets from braces, as it separates cases of a letter.
    else if ((char | 32) === 125) depth -= 1
    else if ((char | 32) === 123) {
      depth += 1
      values += 1
    } else if (char === COMMA) values += 1
    else if (isDigit(char)) {
      const end = endOfNumber(text, at)
      if (end - at > MOST_DIGITS)
        throw new ApiError('INVALID_ARGUMENT', `the request body holds a number of more than ${MOST_DIGITS} digits`)
      if (end - at >= LONG) longNumbers.push([text.charCodeAt(at - 1) === MINUS ? at - 1 : at, end])
      at = end - 1
    }
    if (depth > DEEPEST) throw new ApiError('INVALID_ARGUMENT', `the request body is nested deeper than ${DEEPEST} levels`)
    if (values > MOST_VALUES) throw new ApiError('INVALID_ARGUMENT', `the request body holds more than ${MOST_VALUES} values`)
  }
  return longNumbers
}

/** Letters of a string that are looked at one by one. A search is ten times as fast on a long text, and slower on a short one. */
const NEAR = 64

/** Returns the position of the quote that ends the string beginning here. */
function endOfString(text: string, begin: number): number {
  const near = Math.min(text.length, begin + NEAR)
  let at = begin + 1
  for (; at < near; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) return at
    if (char === BACKSLASH) at += 1
  }
  for (let quote = text.indexOf('"', at); quote >= 0; quote = text.indexOf('"', quote + 1)) if (!isEscaped(text, quote, at)) return quote
  return text.length
}

/** An even number of backslashes, which a text of nothing else is compared with. */
const RUN = '\\'.repeat(1024)

/** True if an odd number of backslashes stands before the quote. What is before `from` was read. */
function isEscaped(text: string, quote: number, from: number): boolean {
  let at = quote
  while (at - RUN.length > from && text.slice(at - RUN.length, at) === RUN) at -= RUN.length
  while (at > from && text.charCodeAt(at - 1) === BACKSLASH) at -= 1
  return (quote - at) % 2 === 1
}

/** Returns the end of a number, or a place behind the most digits that it may have. */
function endOfNumber(text: string, begin: number): number {
  let at = begin
  while (at - begin <= MOST_DIGITS && (isDigit(text.charCodeAt(at)) || '.eE+-'.includes(text.charAt(at) || ' '))) at += 1
  return at
}

function isDigit(char: number): boolean {
  return char >= 48 && char <= 57
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/

/** Quotes those numbers that are integers beyond 2^53. A number in the place of a name is left for the parser to refuse. */
function withTexts(text: string, numbers: readonly Span[]): string {
  const pieces: string[] = []
  let from = 0
  for (const [begin, end] of numbers) {
    const number = text.slice(begin, end)
    if (!INTEGER.test(number) || Number.isSafeInteger(Number(number)) || isName(text, end)) continue
    pieces.push(text.slice(from, begin), `"${number}"`)
    from = end
  }
  return pieces.join('') + text.slice(from)
}

function isName(text: string, end: number): boolean {
  let at = end
  while (SPACES.includes(text.charAt(at) || '-')) at += 1
  return text.charAt(at) === ':'
}

const SPACES = ' \t\r\n'

/** Control and format characters (escape sequences, bidirectional overrides) and line breaks: a terminal or a parser obeys or hides them. */
export const UNSEEN = /\r\n|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes a text to one line: `\u001b` for an escape character, `\u000a` for a line break. */
export function oneLine(text: string): string {
  return text.replaceAll(UNSEEN, (found) => (found === '\t' ? found : escaped(found)))
}

/** Uses the escapes of JSON, JavaScript and TypeScript, so that the text keeps its value there. */
export function escaped(found: string): string {
  return Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
}
