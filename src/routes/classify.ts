import type { Mapping } from '../mapping/operation.ts'

/** Whose request this is, by its path alone. */
export type Target =
  /** A path of the v1 API, decoded: `%2F` and `/` mean the same (facts §12.2). */
  | { readonly kind: 'v1'; readonly path: string }
  /** Everything else: v2 itself, token exchange, uploads, WebSockets. Its bytes are not looked at. */
  | { readonly kind: 'native' }
  /** A path of the v1 API whose percent-encoding is broken, or a request target that is no path at all. */
  | { readonly kind: 'malformed' }

export type Classify = (url: string) => Target

/** Tells v1 requests from native ones: a v1 path begins with `/<domain>/v1`. `url` is the raw request target. */
export function createClassify(mappings: readonly Mapping[]): Classify {
  const prefixes = new Set(mappings.map(({ domain }) => `${domain}/v1`))
  const isV1 = (path: string) => {
    const second = path.indexOf('/', path.indexOf('/', 1) + 1)
    return prefixes.has(second < 0 ? path.slice(1) : path.slice(1, second))
  }
  return (url) => {
    if (!url.startsWith('/')) return { kind: 'malformed' }
    const raw = pathOf(url)
    const path = decoded(raw)
    if (path === undefined) return { kind: isV1(raw) ? 'malformed' : 'native' }
    return isV1(path) ? { kind: 'v1', path } : { kind: 'native' }
  }
}

/** A request target without its query, which may hold secrets. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

function decoded(path: string): string | undefined {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}
