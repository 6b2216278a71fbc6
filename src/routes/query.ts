import { ApiError } from '../errors/api-error.ts'
import type { Query } from '../mapping/query.ts'

/** The query part of a request target, without its `?`; empty when there is none. */
export function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

/**
 * Decodes a query string or a form: every occurrence is kept, `+` is a space. Broken percent-encoding is INVALID_ARGUMENT, as the
 * gateway has it (facts §12.6).
 */
export function parseQuery(...texts: readonly string[]): Query {
  const query = new Map<string, string[]>()
  for (const pair of texts.flatMap((text) => text.split('&'))) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    const values = query.get(name)
    if (values) values.push(value)
    else query.set(name, [value])
  }
  return query
}

const ENCODED = /[%+]/

function decode(text: string): string {
  if (!ENCODED.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ApiError('INVALID_ARGUMENT', `the query holds a broken percent-encoding: ${JSON.stringify(text.slice(0, 100))}`)
  }
}
