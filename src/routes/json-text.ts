import { parse } from 'lossless-json'
import { ApiError } from '../errors/api-error.ts'

/** JSON.parse rounds integers beyond 2^53; only a text with a run of that many digits can hold one (packages §9). */
const LONG_NUMBER = /\d{16}/

/** A request body as v1 read it: no text is no message (undefined), integers beyond 2^53 stay exact as strings, no JSON is code 3. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return LONG_NUMBER.test(text)
      ? parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue })
      : JSON.parse(text)
  } catch (error) {
    throw new ApiError('INVALID_ARGUMENT', `the request body is not JSON: ${(error as Error).message}`)
  }
}

function exactNumber(text: string): number | string {
  const number = Number(text)
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(number) ? text : number
}
