/** A request head as it is on the wire. */
export interface Head {
  readonly method: string
  readonly target: string
  readonly version: '1.0' | '1.1'
  /** Names in lower case, in the order of the wire. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly framing: Framing
}

export type Framing = { readonly kind: 'none' } | { readonly kind: 'length'; readonly length: number } | { readonly kind: 'chunked' }

/** What some bytes begin with. */
export type Reading =
  /** A complete request, and the number of its bytes. */
  | { readonly kind: 'whole'; readonly head: Head; readonly body: string; readonly length: number }
  /** More bytes are needed. The head is present once it is complete. */
  | { readonly kind: 'waits'; readonly head?: Head; readonly body: string }
  /** Bytes that two servers may read differently. Nothing after them is a request. */
  | { readonly kind: 'odd'; readonly why: string; readonly head?: Head }

const LINE_END = '\r\n'
const BARE_LINE_FEED = /(^|[^\r])\n/
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const START = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP\/1\.([01])$/
const SIZE = /^([0-9A-Fa-f]{1,8})(;[\t\x20-\x7e]*)?$/

/**
 * Reads the request at the beginning of latin1 text by RFC 9112, without any leniency that it allows.
 * A line ends in CR LF, a header is on one line, and the framing is given once and in one way. It shares no code with a proxy or with Node.
 */
export function readRequest(bytes: string): Reading {
  const end = bytes.indexOf(LINE_END + LINE_END)
  const text = bytes.slice(0, end < 0 ? bytes.length : end)
  if (BARE_LINE_FEED.test(text)) return { kind: 'odd', why: 'line end' }
  const lines = text.split(LINE_END)
  const parsed = readHead(end < 0 ? lines.slice(0, -1) : lines)
  if (typeof parsed === 'string') return { kind: 'odd', why: parsed }
  if (end < 0 || !parsed) return { kind: 'waits', body: '' }
  const framing = framingOf(parsed)
  if (typeof framing === 'string') return { kind: 'odd', why: framing, head: { ...parsed, framing: { kind: 'none' } } }
  const head: Head = { ...parsed, framing }
  const from = end + 4
  if (framing.kind === 'chunked') return readChunks(head, bytes, from)
  const wanted = framing.kind === 'length' ? framing.length : 0
  const body = bytes.slice(from, from + wanted)
  return body.length < wanted ? { kind: 'waits', head, body } : { kind: 'whole', head, body, length: from + wanted }
}

type Unframed = Omit<Head, 'framing'>

/** Returns the lines so far; undefined without any. A text says what is odd. */
function readHead([start, ...lines]: readonly string[]): Unframed | string | undefined {
  if (start === undefined) return undefined
  const [, method, target, minor] = START.exec(start) ?? []
  if (method === undefined || target === undefined) return 'request line'
  const headers = readHeaders(lines)
  return typeof headers === 'string' ? headers : { method, target, version: minor === '0' ? '1.0' : '1.1', headers }
}

function readHeaders(lines: readonly string[]): Unframed['headers'] | string {
  const headers: [string, string][] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    const [name, value] = [line.slice(0, Math.max(colon, 0)), line.slice(colon + 1)]
    if (!TOKEN.test(name) || !VALUE.test(value)) return 'header line'
    headers.push([name.toLowerCase(), value.replace(/^[\t ]+|[\t ]+$/g, '')])
  }
  return headers
}

/** A text says what is odd. */
function framingOf({ method, version, headers }: Unframed): Framing | string {
  const values = (wanted: string) => headers.filter(([name]) => name === wanted).map(([, value]) => value)
  const [codings, lengths] = [values('transfer-encoding'), values('content-length')]
  if (values('host').length !== 1 && version === '1.1') return 'host'
  if (method === 'CONNECT') return 'CONNECT'
  if (codings.length > 0) {
    const single = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked' && lengths.length === 0 && version === '1.1'
    return single ? { kind: 'chunked' } : 'transfer-encoding'
  }
  if (lengths.length === 0) return { kind: 'none' }
  const [length = ''] = lengths
  return lengths.length === 1 && /^\d{1,15}$/.test(length) ? { kind: 'length', length: Number(length) } : 'content-length'
}

function readChunks(head: Head, bytes: string, from: number): Reading {
  let body = ''
  let at = from
  for (;;) {
    const end = bytes.indexOf(LINE_END, at)
    if (end < 0)
      return BARE_LINE_FEED.test(bytes.slice(at)) || bytes.length - at > 4096
        ? { kind: 'odd', why: 'chunk size', head }
        : { kind: 'waits', head, body }
    const [, digits] = SIZE.exec(bytes.slice(at, end)) ?? []
    if (digits === undefined) return { kind: 'odd', why: 'chunk size', head }
    const size = Number.parseInt(digits, 16)
    at = end + 2
    if (size === 0) return readTrailers(head, body, bytes, at)
    body += bytes.slice(at, at + size)
    at += size
    if (bytes.length < at + 2) return { kind: 'waits', head, body }
    if (!bytes.startsWith(LINE_END, at)) return { kind: 'odd', why: 'end of a chunk', head }
    at += 2
  }
}

function readTrailers(head: Head, body: string, bytes: string, from: number): Reading {
  const lines: string[] = []
  for (let at = from; ; ) {
    const end = bytes.indexOf(LINE_END, at)
    if (BARE_LINE_FEED.test(bytes.slice(at, end < 0 ? bytes.length : end))) return { kind: 'odd', why: 'trailer', head }
    if (end < 0) return { kind: 'waits', head, body }
    if (end === at)
      return typeof readHeaders(lines) === 'string' ? { kind: 'odd', why: 'trailer', head } : { kind: 'whole', head, body, length: end + 2 }
    lines.push(bytes.slice(at, end))
    at = end + 2
  }
}

/** Reads all requests of a connection, and how it ends: between two requests, within one, or at odd bytes. */
export function readAll(bytes: string): {
  readonly requests: readonly (Reading & { kind: 'whole' })[]
  readonly last?: Exclude<Reading, { kind: 'whole' }>
} {
  const requests: (Reading & { kind: 'whole' })[] = []
  for (let rest = bytes; rest !== ''; ) {
    const reading = readRequest(rest)
    if (reading.kind !== 'whole') return { requests, last: reading }
    requests.push(reading)
    rest = rest.slice(reading.length)
  }
  return { requests }
}

/** Returns the value of a header that occurs once. */
export function headerOf({ headers }: Pick<Head, 'headers'>, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1]
}
