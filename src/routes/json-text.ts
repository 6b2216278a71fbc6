import { parse } from 'lossless-json'
import { ApiError } from '../errors/api-error.ts'

/** JSON.parse rounds integers beyond 2^53; only a text with a run of that many digits can hold one (packages §9). */
const LONG_NUMBER = /\d{16}/

/** What a message of v1 can need by far; protobuf's own readers stop there as well. Without a bound, depth would fill the stack. */
const DEEPEST = 100

/** A request body as v1 read it: no text is no message (undefined), integers beyond 2^53 stay exact as strings, no JSON is code 3. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined
  if (isDeeper(text, DEEPEST)) throw new ApiError('INVALID_ARGUMENT', `the request body is nested deeper than ${DEEPEST} levels`)
  try {
    return LONG_NUMBER.test(text)
      ? parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue })
      : JSON.parse(text)
  } catch (error) {
    throw new ApiError('INVALID_ARGUMENT', `the request body is not JSON: ${(error as Error).message}`)
  }
}

const QUOTE = 34
const BACKSLASH = 92

/** Whether brackets outside of strings are nested deeper than `levels`; of a text that is no JSON it may say anything. */
function isDeeper(text: string, levels: number): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (quoted) {
      if (char === BACKSLASH) at += 1
      else quoted = char !== QUOTE
    } else if (char === QUOTE) quoted = true
    // { and [ differ from } and ] by two, and from { to [ by 32: the bit that tells lower case from upper.
    else if ((char | 32) === 123) depth += 1
    else if ((char | 32) === 125) depth -= 1
    if (depth > levels) return true
  }
  return false
}

function exactNumber(text: string): number | string {
  const number = Number(text)
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(number) ? text : number
}
