import { malformed } from '../status.ts'

/** A JSON string or a number. Everything after the first quote is optional, so that no text makes the search start over. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.?)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/** Integers with this many digits may exceed 2^53, where `JSON.parse` rounds. As texts they keep their value (facts §16.5). */
const LONG = /^-?\d{16,}$/

/**
 * Parses a body: `{}` if it is empty, otherwise JSON with any content type (facts §12.5). Malformed JSON is 400 code 3. Integers too large
 * for a number become texts.
 */
export const parseBody = (text: string): unknown => {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (LONG.test(token) ? `"${token}"` : token)))
  } catch (error) {
    return malformed(`proto: syntax error: ${(error as Error).message}`)
  }
}

/** True if a Content-Type names a form. */
export const isForm = (contentType: string | undefined): boolean => /^\s*application\/x-www-form-urlencoded\b/i.test(contentType ?? '')

/** True if a body labelled as a form is JSON, as curl sends it without a Content-Type (facts §12.5). */
export const looksLikeJson = (text: string): boolean => /^\s*[[{]/.test(text)

/** The pairs of a query string or a form. */
export const pairsOf = (text: string): readonly (readonly [string, string])[] => [...new URLSearchParams(text)]
