import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'

export interface WireAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** True if the connection ended before the answer. */
  readonly broken: boolean
}

interface ReadAnswer extends WireAnswer {
  readonly length: number
}

export interface Talk {
  readonly answers: readonly WireAnswer[]
  readonly closed: boolean
}

export const SECURE = { 'tls.key': 'test/certificates/localhost.key', 'tls.cert': 'test/certificates/localhost.crt' }

/** Connects to a server, over TLS if its address says so. The certificate is not verified here. An error shows as a connection that is closed. */
export function dial(url: string, protocol: 'http/1.1' | 'h2' = 'http/1.1'): Socket {
  const { hostname, port, protocol: scheme } = new URL(url)
  const to = { host: hostname, port: Number(port), noDelay: true }
  const socket = scheme === 'https:' ? tls.connect({ ...to, rejectUnauthorized: false, ALPNProtocols: [protocol] }) : net.connect(to)
  return socket.on('error', () => {})
}

/** Writes to a connection; `send` resolves when the bytes are handed over. */
export type Speak = (socket: Socket) => void

/**
 * Sends bytes that no HTTP client would send, on a connection of its own. Reads answers until the server closes it or there are `enough`:
 * a number of final ones, or a test of everything received. `heads` lists the answers (from 0) that belong to a HEAD and have no body.
 */
export function talk(
  url: string,
  speak: string | Speak,
  enough: number | ((received: string) => boolean) = Number.POSITIVE_INFINITY,
  heads: readonly number[] = [],
): Promise<Talk> {
  const areFinal = (many: number) => (text: string) =>
    readAnswers(text, false, heads).filter(({ broken, status }) => !broken && status >= 200).length >= many
  const isEnough = typeof enough === 'number' ? areFinal(enough) : enough
  return new Promise((resolve) => {
    const socket = dial(url)
    let received = ''
    const done = (closed: boolean) => {
      socket.destroy()
      resolve({ answers: readAnswers(received, closed, heads), closed })
    }
    socket.setEncoding('latin1')
    socket.once('connect', () => (typeof speak === 'string' ? socket.write(speak, 'latin1') : speak(socket)))
    socket.on('data', (chunk: string) => {
      received += chunk
      if (isEnough(received)) done(false)
    })
    socket.on('close', () => done(true))
  })
}

/** Returns the answers in a text of the wire; the last one is `broken` if it is incomplete. */
export function readAnswers(wire: string, closed: boolean, heads: readonly number[]): ReadAnswer[] {
  const answers: ReadAnswer[] = []
  let rest = wire
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return [...answers, { status: 0, headers: new Map(), body: rest, broken: true, length: rest.length }]
    const [start = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]))
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(start)?.[1] ?? 0)
    const bodyless = status < 200 || status === 204 || status === 304 || heads.includes(answers.filter((one) => one.status >= 200).length)
    const { body, broken, length } = bodyless ? NOTHING : readBody(headers, rest.slice(end + 4), closed)
    answers.push({ status, headers, body, broken, length: end + 4 + length })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

interface WireBody {
  readonly body: string
  readonly broken: boolean
  readonly length: number
}

const NOTHING: WireBody = { body: '', broken: false, length: 0 }

/** Returns the body at the beginning of a text, as the headers of its message frame it. */
export function readBody(headers: ReadonlyMap<string, string>, rest: string, closed: boolean): WireBody {
  const declared = headers.get('content-length')
  if (declared !== undefined) {
    const length = Math.min(Number(declared), rest.length)
    return { body: rest.slice(0, length), broken: length < Number(declared), length }
  }
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest)
  return { body: rest, broken: !closed, length: rest.length }
}

function readChunks(rest: string): WireBody {
  let body = ''
  let at = 0
  for (;;) {
    const line = /^([0-9a-f]+)[^\r\n]*\r\n/i.exec(rest.slice(at))
    if (!line) return { body, broken: true, length: rest.length }
    const size = Number.parseInt(line[1] ?? '', 16)
    const from = at + line[0].length
    if (rest.length < from + size + 2) return { body, broken: true, length: rest.length }
    body += rest.slice(from, from + size)
    at = from + size + 2
    if (size === 0) return { body, broken: false, length: at }
  }
}

export function gathered(stream: ClientHttp2Stream) {
  let head: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  let headLines: readonly string[] = []
  let trailerLines: readonly string[] = []
  const pieces: Buffer[] = []
  stream.on('error', () => {})
  stream.on('response', (fields: IncomingHttpHeaders, _: number, raw: readonly string[]) => {
    head = fields
    headLines = raw
  })
  stream.on('trailers', (fields, _, raw: readonly string[]) => {
    trailers = fields
    trailerLines = raw
  })
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  const brought = () => ({
    /** 0 if no head arrived. */
    status: Number(head[':status'] ?? 0),
    head,
    trailers,
    /** Names and values in turn, as sent. */
    headLines,
    trailerLines,
    body: Buffer.concat(pieces),
    /** The code of RST_STREAM, 0 for none. */
    reset: stream.rstCode ?? 0,
  })
  return new Promise<ReturnType<typeof brought>>((resolve) => stream.once('close', () => resolve(brought())))
}

/** HTTP/2 as bytes (RFC 9113 §4, §6), because Node writes only correct frames. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export const TYPE = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

export const FLAG = { ACK: 1, END_STREAM: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
  /** The payload's length in the head, if it is false. */
  readonly length?: number
}

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Frame {
  return { type, flags, stream, payload }
}

const HEAD = 9

export function bytesOf({ type, flags, stream, payload, length = payload.length }: Frame): Buffer {
  const bytes = Buffer.alloc(HEAD + payload.length)
  bytes.writeUIntBE(length, 0, 3)
  bytes.writeUInt8(type, 3)
  bytes.writeUInt8(flags, 4)
  bytes.writeUInt32BE(stream, 5)
  payload.copy(bytes, HEAD)
  return bytes
}

export function readFrames(bytes: Buffer): { readonly frames: readonly Frame[]; readonly rest: Buffer } {
  const frames: Frame[] = []
  let at = 0
  while (bytes.length >= at + HEAD) {
    const end = at + HEAD + bytes.readUIntBE(at, 3)
    if (bytes.length < end) break
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff
    frames.push({ type: bytes.readUInt8(at + 3), flags: bytes.readUInt8(at + 4), stream, payload: bytes.subarray(at + HEAD, end) })
    at = end
  }
  return { frames, rest: bytes.subarray(at) }
}

/** A name and a value as sent, one byte a character. */
export type FieldLine = readonly [name: string, value: string]

/** Writes fields as literals without indexing (RFC 7541 §6.2.2). They hold any bytes, and every block can be read by itself. */
export function headerBlock(fields: readonly FieldLine[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]))
}

/** Writes a text without Huffman coding, after its length as an integer with a prefix of seven bits (RFC 7541 §5). */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const length = [127]
  let left = bytes.length - 127
  for (; left >= 128; left = Math.floor(left / 128)) length.push((left % 128) + 128)
  return Buffer.concat([Buffer.of(...length, left), bytes])
}

export function headers(stream: number, fields: readonly FieldLine[], flags: number = FLAG.END_HEADERS): Frame {
  return frame(TYPE.HEADERS, flags, stream, headerBlock(fields))
}

/** Returns a number of four bytes, as in RST_STREAM and WINDOW_UPDATE. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** Returns a message of gRPC behind its flags and its length, which may be false. */
export function grpcFrame(flags: number, message: Buffer, length = message.length): Buffer {
  return Buffer.concat([Buffer.of(flags), uint32(length), message])
}

/** A client's word that it begins no more streams, without an error. */
export const GOAWAY = frame(TYPE.GOAWAY, 0, 0, Buffer.concat([uint32(0), uint32(0)]))
