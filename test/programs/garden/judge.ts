import net, { type Socket } from 'node:net'
import { listening } from '../../stage/programs.ts'
import type { Spoken } from './lane.ts'
import type { Row } from './rows.ts'

/** The name of a request whose credential got lost. A `Connection` header may name and so remove it. */
const NOBODY = 'nobody'

/**
 * Every request of the garden is named in its credential, because all three carriers pass it on: `Bearer BEHAVIOUR.ID`.
 * The behaviour tells the journal how to answer, and the answer repeats the id.
 */
export const credential = (id: string, behaviour: string) => `authorization: Bearer ${behaviour}.${id}`

/** Returns the behaviour and the id of a credential. */
export function readCredential(authorization: string | undefined): { readonly behaviour: string; readonly id: string } {
  const [, behaviour = 'ok', id = NOBODY] = /^Bearer (\w+)\.([\w-]+)$/.exec(authorization ?? '') ?? []
  return { behaviour, id }
}

/** Returns the id that an answer repeats. v2 and v1 name it in their lists and in their errors. */
export function echoIn({ headers, body }: { readonly headers: ReadonlyMap<string, string>; readonly body: string }): string | undefined {
  const echo = headers.get('x-echo') ?? /"(?:name|message)":"([\w-]+)"/.exec(body)?.[1]
  return echo === NOBODY ? undefined : echo
}

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

/** How the journal answers a request. */
export interface Behaviour {
  /** It answers after the head, before the body has arrived, or after the whole body. */
  readonly at: 'head' | 'body'
  /** The bytes of the answer; `id` is that of the request. */
  readonly says: (id: string) => string
  /**
   * The state of the connection afterwards. `broken`: it carried more or less than one well-framed answer, so it must not be used again.
   */
  readonly leaves: 'kept' | 'closed' | 'broken' | 'tunnel'
}

/** An answer that repeats the id in v2's form, in v1's form and in a header. */
function answer(status: string, id: string, lines: readonly string[] = []): string {
  const row = { uid: '0'.repeat(40), id: '0'.repeat(40), name: id }
  const body = JSON.stringify(
    status.startsWith('2') ? { ...row, groups: [row], items: [row], nextPageToken: '' } : { code: 16, message: id, details: [] },
  )
  const all = [`HTTP/1.1 ${status}`, 'content-type: application/json', `x-echo: ${id}`, `content-length: ${body.length}`, ...lines]
  return `${all.join('\r\n')}\r\n\r\n${body}`
}

/** An answer without a request. */
const staged = (id: string) => answer('200 OK', `staged-${id}`)
/** An answer that is framed by these lines, with these bytes after its head. */
const framed = (id: string, lines: readonly string[], rest: string) =>
  `${['HTTP/1.1 200 OK', 'content-type: application/json', `x-echo: ${id}`, ...lines].join('\r\n')}\r\n\r\n${rest}`

const whole = (says: Behaviour['says']): Behaviour => ({ at: 'body', says, leaves: 'kept' })
const early = (says: Behaviour['says']): Behaviour => ({ at: 'head', says, leaves: 'kept' })
const broken = (says: Behaviour['says']): Behaviour => ({ at: 'body', says, leaves: 'broken' })

/** By the name in the credential. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  ok: whole((id) => answer('200 OK', id)),
  hinted: whole((id) => `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${answer('200 OK', id)}`),
  chunked: whole((id) => framed(id, ['transfer-encoding: chunked'], `b\r\n{"groups":[\r\n2\r\n]}\r\n0\r\n\r\n`)),
  early200: early((id) => answer('200 OK', id)),
  early401: early((id) => answer('401 Unauthorized', id)),
  early404: early((id) => answer('404 Not Found', id)),
  early417: early((id) => answer('417 Expectation Failed', id)),
  close401: { at: 'head', says: (id) => answer('401 Unauthorized', id, ['connection: close']), leaves: 'closed' },
  close200: { at: 'body', says: (id) => framed(id, ['connection: close'], '{}'), leaves: 'closed' },
  switch: {
    at: 'head',
    says: (id) => `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nx-echo: ${id}\r\n\r\n`,
    leaves: 'tunnel',
  },
  twice: broken((id) => answer('200 OK', id) + staged(id)),
  spill: broken((id) => framed(id, ['content-length: 2'], `{}${staged(id)}`)),
  spillchunks: broken((id) => framed(id, ['transfer-encoding: chunked'], `2\r\n{}\r\n0\r\n\r\n${staged(id)}`)),
  nobody: broken((id) => `HTTP/1.1 204 No Content\r\nx-echo: ${id}\r\n\r\n${staged(id)}`),
  unchanged: broken((id) => `HTTP/1.1 304 Not Modified\r\nx-echo: ${id}\r\n\r\n${staged(id)}`),
  lengths: broken((id) => framed(id, ['content-length: 2', `content-length: ${staged(id).length + 2}`], `{}${staged(id)}`)),
  both: broken((id) => framed(id, ['content-length: 5', 'transfer-encoding: chunked'], `0\r\n\r\n${staged(id)}`)),
  coded: broken((id) => framed(id, ['transfer-encoding: xchunked', 'content-length: 2'], `{}${staged(id)}`)),
  folded: broken((id) => framed(id, ['x-fold: a\r\n content-length: 0', 'content-length: 2'], `{}${staged(id)}`)),
  unasked: broken((id) => `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n${staged(id)}`),
  cut: { at: 'body', says: (id) => framed(id, ['content-length: 1000'], '{"groups":['), leaves: 'closed' },
}

/** A request as it arrived at the last server. */
export interface Entry {
  readonly head: Head
  readonly id: string
  /** The bytes so far. */
  body: string
  /** True if the whole request has arrived. */
  whole: boolean
  /** The previous request on the connection, if its answer was less or more than one well-framed answer. */
  readonly after: string | undefined
}

export type Journal = Awaited<ReturnType<typeof startJournal>>

/** Bytes that are no request, and what is odd about them. */
export interface Oddity {
  readonly why: string
  readonly bytes: string
}

/** Starts the last server, which records exactly what it receives. The credential of a request determines its answer. */
export async function startJournal() {
  const entries: Entry[] = []
  const oddities: Oddity[] = []
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    listen(socket, entries, oddities)
  })
  const { port } = await listening(server)
  const close = () => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { port, entries, oddities, close }
}

/** Reads the requests of one connection one after the other. */
function listen(socket: Socket, entries: Entry[], oddities: Oddity[]): void {
  let rest = ''
  let entry: Entry | undefined
  let last: Behaviour['leaves'] = 'kept'
  let broken: string | undefined
  const arrived = (reading: Exclude<Reading, { kind: 'odd' }>) => {
    if (!reading.head) return
    const { behaviour, id } = readCredential(headerOf(reading.head, 'authorization'))
    const { at, says, leaves } = behaviourFor(behaviour, reading.head)
    const isNew = entry === undefined
    entry ??= { head: reading.head, id, body: '', whole: false, after: broken }
    entry.body = reading.body
    entry.whole = reading.kind === 'whole'
    if (isNew) entries.push(entry)
    if (isNew && at === 'body' && !entry.whole && expectsToContinue(reading.head)) socket.write(CONTINUE)
    if (at === 'head' ? isNew : entry.whole) {
      const answer = says(id)
      socket.write(
        reading.head.method === 'HEAD' && leaves !== 'broken' ? answer.slice(0, answer.lastIndexOf('\r\n\r\n') + 4) : answer,
        'latin1',
      )
      last = leaves
      if (leaves === 'broken') broken = id
      if (leaves === 'closed' || wantsClose(reading.head)) socket.end()
    }
    if (entry.whole) entry = undefined
  }
  socket.setEncoding('latin1').on('error', () => socket.destroy())
  socket.on('data', (piece: string) => {
    rest += piece
    while (rest !== '' && last !== 'tunnel') {
      const reading = readRequest(rest)
      if (reading.kind === 'odd') {
        oddities.push({ why: reading.why, bytes: rest.slice(0, 300) })
        return void socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
      }
      arrived(reading)
      if (reading.kind === 'waits') return
      rest = rest.slice(reading.length)
    }
  })
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const expectsToContinue = (head: Head) => headerOf(head, 'expect')?.toLowerCase() === '100-continue'

/** A tunnel needs a request for one. */
function behaviourFor(name: string, head: Head): Behaviour {
  const asked = name === 'switch' && headerOf(head, 'upgrade') === undefined ? 'ok' : name
  return BEHAVIOURS[asked] ?? (BEHAVIOURS['ok'] as Behaviour)
}

function wantsClose({ version, headers }: Head): boolean {
  const connection = headers.filter(([name]) => name === 'connection').map(([, value]) => value.toLowerCase())
  return (
    connection.some((value) => value.includes('close')) || (version === '1.0' && !connection.some((value) => value.includes('keep-alive')))
  )
}

/** A fault in an exchange. The words are the same for every row, so that two ways of the same row can be compared. */
export type Finding =
  | 'a hidden request was answered'
  | 'answers out of step'
  | 'more answers than requests'
  | 'bytes that are no answer'
  | 'no answer'
  | 'a hidden request arrived'
  | 'a request arrived twice'
  | 'a body arrived changed'
  | "somebody else's bytes arrived in a body"
  | 'bytes arrived that are no request'
  | 'a connection was used after a broken answer'
  | 'another client got a wrong answer'
  | "another client's credential arrived with a request of somebody else"
  | 'the proxy ended'

/** The results of reading bytes that are no request as one. Timing decides which of these a client or the journal sees. */
const READ_OUT_OF_A_BODY: ReadonlySet<Finding> = new Set([
  'a hidden request was answered',
  'a hidden request arrived',
  'answers out of step',
  'more answers than requests',
])

/** True if the row shows the same fault without Crosswalk. */
export function isAmong(found: ReadonlySet<Finding> | undefined, finding: Finding): boolean {
  if (!found || found.has(finding)) return found !== undefined
  return READ_OUT_OF_A_BODY.has(finding) && [...found].some((other) => READ_OUT_OF_A_BODY.has(other))
}

/** Names of the requests that a strict reader finds, in order, and of those that may follow. */
function namesOf({ nr, sent }: Row): { readonly owed: readonly string[]; readonly may: readonly (string | undefined)[] } {
  const owed = sent.requests.map(({ head }) => nameOf(head))
  if (!sent.last) return { owed, may: [] }
  const last = 'head' in sent.last && sent.last.head ? nameOf(sent.last.head) : undefined
  return { owed, may: sent.last.kind === 'waits' ? [last] : [last, `probe-${nr}`] }
}

const nameOf = (head: Parameters<typeof headerOf>[0]) => readCredential(headerOf(head, 'authorization')).id

/** The number of answers that a row must get. */
export const owedBy = ({ sent }: Row): number => sent.requests.length

/** The answers (from 0) to HEAD requests. */
export function headsOf({ sent }: Row): readonly number[] {
  const methods = sent.requests.map(({ head }) => head.method)
  const last = sent.last && 'head' in sent.last ? sent.last.head?.method : undefined
  return [...methods, last].flatMap((method, at) => (method === 'HEAD' ? [at] : []))
}

/** Compares the answers with the requests that were sent. */
export function judgeAnswers(row: Row, { answers, closed }: Spoken): readonly Finding[] {
  const { owed, may } = namesOf(row)
  const echoes = answers.map(echoIn)
  const isTunnel = answers.some(({ status }) => status === 101)
  const names = [...owed, ...may]
  const inStep = echoes.every((echo, at) => echo === undefined || names[at] === undefined || echo === names[at] || isLate(echo, at, names))
  const findings: readonly [Finding, boolean][] = [
    ['a hidden request was answered', echoes.some((echo) => echo?.startsWith('hidden-') === true && !owed.includes(echo))],
    ['answers out of step', !inStep || new Set(echoes.filter(Boolean)).size < echoes.filter(Boolean).length],
    ['more answers than requests', answers.length > names.length],
    ['bytes that are no answer', owed.length > 0 && answers.some(({ status }) => status === 0)],
    ['no answer', !closed && !isTunnel && answers.length < owed.length],
  ]
  return findings.flatMap(([finding, isSo]) => (isSo ? [finding] : []))
}

/** The odd request itself may be skipped, but never one that must be answered. */
function isLate(echo: string, at: number, names: readonly (string | undefined)[]): boolean {
  return echo.startsWith('probe-') && names.lastIndexOf(echo) === at + 1 && at + 1 === names.length - 1
}

/** Compares the requests of a row that arrived with those that were sent. */
export function judgeEntries(row: Row, entries: readonly Entry[]): readonly Finding[] {
  const bodies = bodiesOf(row)
  const hidden = `hidden-${row.nr}`
  const isSent = row.sent.requests.some(({ head }) => head.target.endsWith(`/${hidden}`))
  const seen = new Set<string>()
  return entries.flatMap((entry): readonly Finding[] => {
    const { id, head, body } = entry
    const isAgain = seen.has(id) && !isRepeatable(entry)
    seen.add(id)
    const findings: readonly [Finding, boolean][] = [
      ['a hidden request arrived', !isSent && (id === hidden || head.target.includes(`/${hidden}`))],
      ['a request arrived twice', isAgain],
      ['a body arrived changed', row.carrier !== 'translated' && !isRight(entry, bodies.get(id))],
      ["somebody else's bytes arrived in a body", /(victim|control)-/.test(body)],
    ]
    return findings.flatMap(([finding, isSo]) => (isSo ? [finding] : []))
  })
}

interface SentBody {
  readonly text: string
  /** False if the client did not send the whole body. */
  readonly whole: boolean
}

/** Bodies as a strict reader finds them, by the name of their request. */
function bodiesOf({ sent }: Row): ReadonlyMap<string, SentBody> {
  const { last } = sent
  const whole = sent.requests.map(({ head, body }): [string, SentBody] => [nameOf(head), { text: body, whole: true }])
  return new Map(last?.kind === 'waits' && last.head ? [...whole, [nameOf(last.head), { text: last.body, whole: false }]] : whole)
}

/** True if the body is the one that was sent, or its beginning if either is incomplete. A body of a GET may be omitted. */
function isRight({ head, body, whole }: Entry, sent: SentBody | undefined): boolean {
  if (!sent || (body === '' && (head.method === 'GET' || head.method === 'HEAD'))) return true
  return whole && sent.whole ? body === sent.text : sent.text.startsWith(body)
}

/** A read whose connection broke may be sent again. */
function isRepeatable({ head }: Entry): boolean {
  const { behaviour } = readCredential(headerOf(head, 'authorization'))
  return ['GET', 'HEAD', 'OPTIONS'].includes(head.method) && behaviour !== 'ok'
}
