/** Headers that speak of one connection only and are never passed on (RFC 9110 §7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * What a `Connection` header cannot take away by naming it: without what frames a message its body would become the next request, without
 * `CDN-Loop` nobody would see it come back.
 */
const KEPT: ReadonlySet<string> = new Set(['cdn-loop', 'content-length', 'host', 'transfer-encoding'])

/**
 * Tells which headers (lower case) end at this hop: those named by the message's own `Connection` header, and what HTTP/2 says as headers
 * of its request line (`:path`).
 */
export function endsHere(connection: string | undefined): (name: string) => boolean {
  const isNamed = namedBy(connection)
  return (name) => HOP_BY_HOP.has(name) || isNamed(name) || name.startsWith(':')
}

/** Tells which headers (lower case) a `Connection` header takes away. */
export function namedBy(connection: string | undefined): (name: string) => boolean {
  const named = (connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const extra = new Set(named.filter((name) => !KEPT.has(name)))
  return (name) => extra.has(name)
}

/** A header object (lower-case names) without what ends at this hop. */
export function endToEnd<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  const { connection } = headers as Readonly<Record<string, unknown>>
  const ends = endsHere(typeof connection === 'string' ? connection : undefined)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ends(name)))
}

/** Node's flat `rawHeaders` list without what ends at this hop; order, case and repetitions are kept. */
export function endToEndRaw(raw: readonly string[]): string[] {
  const pairs = Array.from({ length: raw.length / 2 }, (_, at): [string, string] => [raw[2 * at] ?? '', raw[2 * at + 1] ?? ''])
  const connection = pairs.filter(([name]) => name.toLowerCase() === 'connection').map(([, value]) => value)
  const ends = endsHere(connection.join(','))
  return pairs.filter(([name]) => !ends(name.toLowerCase())).flat()
}
