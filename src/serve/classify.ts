import { ApiError, invalidArgument } from '../errors.ts'
import { type Mapping, prefixOf } from '../tables/operation.ts'

/** The destination of a request, determined by its path alone. */
export type Target =
  /** A path of the v1 API, decoded: `%2F` and `/` mean the same (facts §12.2). */
  | { readonly kind: 'v1'; readonly path: string }
  /** All other requests: v2 itself, token exchange, uploads, WebSockets. They pass through byte for byte. */
  | { readonly kind: 'native' }
  /** A path that different servers would read differently; `error` says why. */
  | { readonly kind: 'refused'; readonly error: ApiError }

export type Classify = (url: string) => Target

/**
 * Separates v1 requests from native ones. A v1 path begins with the prefix of a mapping. `url` is the raw request target.
 * If v2 lives below a path of its server (`isBelow`), a request must not climb out of it.
 */
export function createClassify(mappings: readonly Mapping[], isBelow = false): Classify {
  const prefixes = new Set(mappings.map(prefixOf))
  const depths = [...new Set([...prefixes].map((prefix) => prefix.split('/').length))]
  const isV1 = (path: string) => depths.some((depth) => prefixes.has(firstSegments(path, depth)))
  return (url) => {
    if (!url.startsWith('/') || url.includes('#')) return malformed()
    const raw = pathOf(url)
    const path = decoded(raw)
    if (!isV1(path ?? bytewise(raw))) return isBelow && hasDotSegment(raw) ? climbing() : NATIVE
    if (hasDotSegment(raw)) return climbing()
    return path === undefined || !WELL_FORMED.test(url) ? malformed() : { kind: 'v1', path }
  }
}

/** Returns the first segments of a path, without its first slash. */
function firstSegments(path: string, count: number): string {
  let end = 0
  for (let segment = 0; segment < count; segment += 1) {
    end = path.indexOf('/', end + 1)
    if (end < 0) return path.slice(1)
  }
  return path.slice(1, end)
}

const NATIVE: Target = { kind: 'native' }

/**
 * The characters that a path may hold unencoded (RFC 3986 §3.3). Some servers read `\` as `/`; some encode such characters. v1 could then
 * see another path than the mode rules did. A query must only be ASCII, as in HTTP/1.1: clients often leave it unencoded. A `#` is refused
 * in every target: a fragment is never part of one (RFC 9112 §3.2), and servers cut it off.
 */
const WELL_FORMED = /^[!$%&'()*+,\-./0-9:;=@A-Z_a-z~]*(?:\?[!-~]*)?$/

/** `.` and `..`, encoded any number of times, between slashes of either kind. Some servers also end a segment at `;`. */
const DOT_SEGMENT = /(?:[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){1,2}(?:[/\\;]|%(?:25)*(?:2f|5c|3b)|$)/i

/** Some servers resolve such segments and then serve another path than the one that was checked here. */
function hasDotSegment(path: string): boolean {
  return (path.includes('.') || path.includes('%')) && DOT_SEGMENT.test(path)
}

function malformed(): Target {
  return { kind: 'refused', error: new ApiError('INVALID_ARGUMENT', 'the request target is not a well-formed path') }
}

function climbing(): Target {
  return { kind: 'refused', error: invalidArgument({ field: 'path', description: 'must not contain the segments . and ..' }) }
}

/** Returns a request target without its query, which may hold secrets. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/** Decodes a path; undefined if it is not percent-encoded UTF-8. */
function decoded(path: string): string | undefined {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** Decodes a path byte by byte, as servers do that do not require UTF-8. */
function bytewise(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
