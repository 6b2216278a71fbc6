import { ApiError } from '../errors/api-error.ts'

/** What a message of v1 can need by far; protobuf's own readers stop there as well. Without a bound, depth would fill the stack. */
const DEEPEST = 100

/** What a message of v1 can need by far. A value of two bytes takes a hundred in memory, and more once it is translated. */
const MOST_VALUES = 10_000

/** JSON.parse rounds integers beyond 2^53 (design §6.5); none of them has fewer digits. */
const LONG = 16

/** A request body as v1 read it: no text is no message (undefined), integers beyond 2^53 stay exact as strings, no JSON is code 3. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined
  const longNumbers = survey(text)
  try {
    return JSON.parse(longNumbers.length === 0 ? text : withTexts(text, longNumbers))
  } catch (error) {
    throw new ApiError('INVALID_ARGUMENT', `the request body is not JSON: ${(error as Error).message}`)
  }
}

/** Where a number begins and ends. */
type Span = readonly [begin: number, end: number]

const QUOTE = 34
const COMMA = 44
const MINUS = 45
const BACKSLASH = 92

/** The long numbers outside of strings. Refuses depth and values beyond the bounds; of a text that is no JSON it may say anything. */
function survey(text: string): readonly Span[] {
  const longNumbers: Span[] = []
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) at = endOfString(text, at)
    // { and [ differ from } and ] by two, and from { to [ by 32: the bit that tells lower case from upper.
    else if ((char | 32) === 125) depth -= 1
    else if ((char | 32) === 123) {
      depth += 1
      values += 1
    } else if (char === COMMA) values += 1
    else if (isDigit(char)) {
      const end = endOfNumber(text, at)
      if (end - at >= LONG) longNumbers.push([text.charCodeAt(at - 1) === MINUS ? at - 1 : at, end])
      at = end - 1
    }
    if (depth > DEEPEST) throw new ApiError('INVALID_ARGUMENT', `the request body is nested deeper than ${DEEPEST} levels`)
    if (values > MOST_VALUES) throw new ApiError('INVALID_ARGUMENT', `the request body holds more than ${MOST_VALUES} values`)
  }
  return longNumbers
}

/** Where the quote stands that ends the string which begins here. */
function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) return at
    if (char === BACKSLASH) at += 1
  }
  return text.length
}

function endOfNumber(text: string, begin: number): number {
  let at = begin
  while (isDigit(text.charCodeAt(at)) || '.eE+-'.includes(text.charAt(at) || ' ')) at += 1
  return at
}

function isDigit(char: number): boolean {
  return char >= 48 && char <= 57
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/

/** The text with those of the numbers that are integers beyond 2^53 as strings. A number where a name should stand is left for the parser. */
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
