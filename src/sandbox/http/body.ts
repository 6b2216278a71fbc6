import { malformed } from '../status.ts'

/** A string of JSON, or a number. Everything behind the first quote may be missing, so that no text makes the search begin again. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.?)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/** Integers of so many digits may be beyond 2^53, where `JSON.parse` rounds: as texts they stay what they are (facts §16.5). */
const LONG = /^-?\d{16,}$/

/**
 * `{}` for an empty body, the JSON otherwise: any content type counts as JSON (facts §12.5). Malformed JSON is 400 code 3. Integers that
 * a number could not hold become texts.
 */
export const parseBody = (text: string): unknown => {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (LONG.test(token) ? `"${token}"` : token)))
  } catch (error) {
    return malformed(`proto: syntax error: ${(error as Error).message}`)
  }
}

/** Whether a Content-Type names a form. */
export const isForm = (contentType: string | undefined): boolean => /^\s*application\/x-www-form-urlencoded\b/i.test(contentType ?? '')

/** Whether a body labelled as a form is JSON all the same, as curl sends it when no Content-Type is given (facts §12.5). */
export const looksLikeJson = (text: string): boolean => /^\s*[[{]/.test(text)

/** The pairs of a query string or a form. */
export const pairsOf = (text: string): readonly (readonly [string, string])[] => [...new URLSearchParams(text)]
