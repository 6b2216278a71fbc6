/**
 * What the head of a foreign answer may hold on its way to a client over HTTP/1.1 or HTTP/2: statuses, names, values, and the headers that
 * may come once. A head that cannot be relayed is a problem in words. It never quotes a value.
 */
/**
 * Headers that HTTP/2 carries once: those that Node's HTTP/2 refuses to write twice.
 * Node 20, 22 and 24 agree, and the test asks the Node that runs it. Over HTTP/1.1, an application and its balancer often both add one.
 */
export const SINGLE_VALUED: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'age',
  'authorization',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
])

/** Headers of one connection, which HTTP/2 forbids (RFC 9113 §8.2.2). `te` may only say `trailers`, and only in a request. */
export const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

/** The head of a service's answer on its way to a client. */
export interface Head {
  readonly status: number
  /** The text beside the status, which HTTP/2 does not carry. */
  readonly reason: string
  /** Alternating names and values as received. */
  readonly headers: readonly string[]
}

/** A head that the client's protocol can carry, or the problem: `its status 999`. It never quotes a value. */
export type Relayable = Head | Problem

interface Problem {
  readonly problem: string
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** The characters that Node writes into a head: tabs and printable Latin-1 (RFC 9110 §5.5). */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/

/** True if a text can be the value of a header. */
export function isWritable(value: string): boolean {
  return WRITABLE.test(value)
}

/**
 * Checks a head before a client gets it. A parser of HTTP accepts more than a writer: a status of 999, a control character in the
 * reason, a second content-type. Statuses from 200 to 599 are relayed, and an unwritable reason is dropped. Over HTTP/2 the first of
 * several single-valued headers is kept. `version`: the major version of HTTP that the client speaks.
 *
 * `relayable(2, { status: 200, reason: '', headers: ['etag', '"1"', 'etag', '"1"'] })` has one etag.
 */
export function relayable(version: number, { status, reason, headers }: Head): Relayable {
  if (!isFinalStatus(status)) return { problem: `its status ${status}` }
  const checked = relayableHeaders(version, headers)
  return 'problem' in checked ? checked : { status, reason: isWritable(reason) ? reason : '', headers: checked.headers }
}

function isFinalStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 200 && status <= 599
}

/** The same for headers alone: of a handshake, or trailers. */
export function relayableHeaders(version: number, headers: readonly string[]): Pick<Head, 'headers'> | Problem {
  const kept: string[] = []
  let seen: Set<string> | undefined
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    if (!TOKEN.test(name)) return { problem: 'the name of a header' }
    if (!isWritable(value)) return { problem: `its header ${name.slice(0, 40)}` }
    const lower = version > 1 ? name.toLowerCase() : ''
    if (version > 1 && CONNECTION_SPECIFIC.has(lower)) continue
    if (version > 1 && SINGLE_VALUED.has(lower)) {
      if (seen?.has(lower)) continue
      seen ??= new Set()
      seen.add(lower)
    }
    kept.push(name, value)
  }
  return { headers: kept }
}

/** Headers by name, as undici and Node give them; a repeated name has a list of values. */
type Groups = Readonly<Record<string, string | string[] | undefined>>

/** The same as `relayable` for an answer whose headers are grouped by their names in lower case, for clients of both HTTP versions. */
export function relayableGroups(status: number, headers: Groups): { readonly headers: Record<string, string | string[]> } | Problem {
  if (!isFinalStatus(status)) return { problem: `its status ${status}` }
  const kept: Record<string, string | string[]> = Object.create(null)
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    const [first] = typeof value === 'string' ? [value] : (value ?? [])
    if (value === undefined || first === undefined) continue
    if (!TOKEN.test(name)) return { problem: 'the name of a header' }
    if (typeof value === 'string' ? !isWritable(value) : !value.every(isWritable)) return { problem: `its header ${name.slice(0, 40)}` }
    if (!CONNECTION_SPECIFIC.has(name))
      kept[name] = typeof value === 'string' || value.length === 1 || SINGLE_VALUED.has(name) ? first : value
  }
  return { headers: kept }
}

/** Turns a flat list into an object; a repeated name has a list of values. */
export function grouped(headers: readonly string[]): Record<string, string | string[]> {
  const groups: Record<string, string | string[]> = Object.create(null)
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    const known = groups[name]
    groups[name] = known === undefined ? value : [known, value].flat()
  }
  return groups
}
