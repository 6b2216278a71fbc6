import { ApiError } from '../../errors.ts'

/** What an `If-Match` header says about the present entity tag. */
export type IfMatch = 'met' | 'failed' | 'malformed'

export const MALFORMED = new ApiError('INVALID_ARGUMENT', 'If-Match must be * or the etag of an answer, with its quotes')

const TAGS = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

/**
 * Compares `If-Match` with the present tag (RFC 9110 §13.1.1): no header, `*` and a list that holds the tag are met. A weak tag never is.
 * `ifMatch('"a-1", "a-2"', '"a-2"')` is `met`.
 */
export function ifMatch(header: string | undefined, tag: string): IfMatch {
  if (header === undefined || header.trim() === '*') return 'met'
  const tags = [...header.matchAll(TAGS)].map(([one]) => one)
  if (tags.length === 0 || !/^[\s,]*$/.test(header.replaceAll(TAGS, ''))) return 'malformed'
  return tags.includes(tag) ? 'met' : 'failed'
}
