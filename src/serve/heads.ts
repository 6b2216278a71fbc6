import type { ServerResponse } from 'node:http'
import { type Head, relayable } from '../heads.ts'

/**
 * Writes the head of an answer to a client, or returns the problem and sends nothing.
 * Every head from a service passes through here or through `relayable`.
 */
export function writeHead(response: ServerResponse, head: Head): { readonly problem: string } | undefined {
  const isHttp2 = 'stream' in response
  const checked = relayable(isHttp2 ? 2 : 1, head)
  if ('problem' in checked) return checked
  try {
    if (isHttp2) response.writeHead(checked.status, [...checked.headers])
    else response.writeHead(checked.status, checked.reason, [...checked.headers])
    return undefined
  } catch (error) {
    return { problem: (error as NodeJS.ErrnoException).code ?? 'its head' }
  }
}

/** Headers for one connection only, which are never passed on (RFC 9110 §7.6.1). */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
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
 * Headers that a `Connection` header cannot remove. Without the framing, a message's body would become the next request.
 * Without `CDN-Loop`, no proxy would detect a loop.
 */
const KEPT: ReadonlySet<string> = new Set(['cdn-loop', 'content-length', 'host', 'transfer-encoding'])

/**
 * Returns a test for headers (lower case) that end at this hop.
 * These are the ones that the message's own `Connection` header names, and the request line of HTTP/2 (`:path`).
 */
export function endsHere(connection: string | undefined): (name: string) => boolean {
  const named = namedBy(connection)
  return (name) => HOP_BY_HOP.has(name) || named.has(name) || name.startsWith(':')
}

/** Returns the headers (lower case) that a `Connection` header removes. */
export function namedBy(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined) return NOTHING
  // Nearly every client sends this.
  if (connection === 'keep-alive') return KEEP_ALIVE
  const named = connection.split(',').map((name) => name.trim().toLowerCase())
  return new Set(named.filter((name) => !KEPT.has(name)))
}

const NOTHING: ReadonlySet<string> = new Set()
const KEEP_ALIVE: ReadonlySet<string> = new Set(['keep-alive'])

/** Returns a header object (lower-case names) without the headers that end at this hop. */
export function endToEnd<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  const { connection } = headers as Readonly<Record<string, unknown>>
  const named = namedBy(Array.isArray(connection) ? connection.join(',') : (connection as string | undefined))
  const kept: Record<string, T> = {}
  for (const name in headers) {
    if (!HOP_BY_HOP.has(name) && !named.has(name) && !name.startsWith(':')) kept[name] = headers[name] as T
  }
  return kept
}

/** Returns Node's flat `rawHeaders` list without the headers that end at this hop. Order, case and repetitions are kept. */
export function endToEndRaw(raw: readonly string[]): string[] {
  const connection = raw.filter((_, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === 'connection')
  const ends = endsHere(connection.length === 0 ? undefined : connection.join(','))
  return raw.filter((_, at) => !ends((raw[at - (at % 2)] ?? '').toLowerCase()))
}
