import { ApiError } from '../errors.ts'
import type { Query } from '../tables/query.ts'

/** Returns the query of a request target without its `?`, or an empty text. */
export function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

/** The maximum number of parameters. Go's servers, and so v1's gateway, have the same limit. */
const MOST = 10_000

/**
 * Decodes a query string or a form. Every occurrence is kept; `+` is a space.
 * Broken percent-encoding is INVALID_ARGUMENT, as in the gateway (facts §12.6).
 */
export function parseQuery(...texts: readonly string[]): Query {
  const query = new Map<string, string[]>()
  let pairs = 0
  for (const text of texts) {
    for (let at = 0; at < text.length; ) {
      const next = text.indexOf('&', at)
      const end = next < 0 ? text.length : next
      if (end > at) {
        pairs += 1
        if (pairs > MOST) throw new ApiError('INVALID_ARGUMENT', `the query holds more than ${MOST} parameters`)
        addPair(query, text.slice(at, end))
      }
      at = end + 1
    }
  }
  return query
}

function addPair(query: Map<string, string[]>, pair: string): void {
  const equals = pair.indexOf('=')
  const name = decode(equals < 0 ? pair : pair.slice(0, equals))
  const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
  const values = query.get(name)
  if (values) values.push(value)
  else query.set(name, [value])
}

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ApiError('INVALID_ARGUMENT', `the query holds a broken percent-encoding: ${JSON.stringify(text.slice(0, 100))}`)
  }
}
