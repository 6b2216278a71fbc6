import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { ApiError, CODES, type CodeName, retryInfo } from '../../errors.ts'
import { grouped, relayableHeaders } from '../../heads.ts'
import { isLeft, reset } from '../../serve/listen/http2.ts'
import { type OnClose, whenClosed } from '../../serve/signals.ts'
import type { Noted, WireMetadata, WireReply, WireStatus } from './call.ts'
import { lengthOf, unreadableCall } from './framing.ts'

/** Names that the protocols write themselves. */
const OWN = /^(?::|grpc-|connect-|trailer-|(?:content-(?:type|length|encoding)|accept-encoding|trailer|vary)$)/

/**
 * Returns metadata of a handler as headers, without the names that belong to the protocols. It is INTERNAL if a head cannot carry it.
 * Nothing in it is folded: a list of values stays a list.
 */
export function metadata(given: WireMetadata | undefined): Record<string, string | string[]> {
  if (!given) return {}
  const headers: string[] = []
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase()
    if (OWN.test(lower)) continue
    if (typeof value === 'string') headers.push(lower, value)
    else for (const one of value) headers.push(lower, one)
  }
  const checked = relayableHeaders(2, headers)
  if ('problem' in checked) throw new ApiError('INTERNAL', 'the answer has metadata that no header can carry')
  return grouped(checked.headers)
}

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/** What says that a call failed where no status of gRPC does, and the name of a code in another protocol. */
interface Sign {
  /**
   * HTTP statuses of a REST service without an error body. Something before the service answered. A foreign 404 says that a service is not
   * there, not that a resource is missing.
   */
  readonly rest?: readonly number[]
  /**
   * HTTP statuses of a gRPC service without gRPC: a gateway of it answered. If that lost the service, it may have passed the call on before,
   * so that the code is not UNAVAILABLE.
   */
  readonly grpc?: readonly number[]
  /** The error with which HTTP/2 resets a stream. */
  readonly reset?: number
  /** The name in Connect, where it is not the same in lower case. */
  readonly connect?: string
}

/** One row a code. */
const SIGNS: Readonly<Partial<Record<CodeName, Sign>>> = {
  CANCELLED: { rest: [499], reset: NGHTTP2_CANCEL, connect: 'canceled' },
  UNKNOWN: { grpc: [500, 502, 503, 504], reset: NGHTTP2_NO_ERROR },
  INVALID_ARGUMENT: { rest: [400, 413, 414, 431] },
  DEADLINE_EXCEEDED: { rest: [408, 504] },
  PERMISSION_DENIED: { rest: [403], grpc: [403] },
  RESOURCE_EXHAUSTED: { rest: [429], grpc: [429] },
  ABORTED: { rest: [409] },
  UNIMPLEMENTED: { rest: [404, 405, 501] },
  UNAVAILABLE: { rest: [502, 503], reset: NGHTTP2_REFUSED_STREAM },
  UNAUTHENTICATED: { rest: [401], grpc: [401] },
}

function codesBy(signs: (sign: Sign) => readonly number[]): ReadonlyMap<number, CodeName> {
  return new Map(Object.entries(SIGNS).flatMap(([code, sign]) => signs(sign).map((said) => [said, code as CodeName] as const)))
}

const BY_RESET = codesBy(({ reset }) => (reset === undefined ? [] : [reset]))
const BY_HTTP = { rest: codesBy(({ rest = [] }) => rest), grpc: codesBy(({ grpc = [] }) => grpc) }

/** Returns the code that an HTTP status means from a service that should speak REST, or gRPC; undefined if it means none. */
export function codeOfHttp(spoken: 'rest' | 'grpc', status: number): CodeName | undefined {
  return BY_HTTP[spoken].get(status)
}

/** Returns the name that Connect gives a code: `not_found`. */
export function connectCode(code: CodeName): string {
  return SIGNS[code]?.connect ?? code.toLowerCase()
}

type ClosedStream = Partial<Pick<ServerHttp2Stream, 'aborted' | 'rstCode' | 'sentTrailers' | 'sentHeaders'>>

/**
 * Returns the status that the client of a closed stream sees: the one that was sent, or gRPC's meaning of our reset. A client that leaves has
 * cancelled, whatever its reset says: Envoy says NO_ERROR. A stream that a time limit ended may have a status that was never sent.
 */
export function closedCode(stream: ClosedStream): number {
  const { rstCode = NGHTTP2_NO_ERROR, sentTrailers, sentHeaders } = stream
  const status = sentTrailers?.['grpc-status'] ?? sentHeaders?.['grpc-status']
  if (status !== undefined && rstCode === NGHTTP2_NO_ERROR) return Number(status)
  // Servers of grpc-go say so. Clients see UNKNOWN, which would tell of a service that breaks off.
  if (sentHeaders?.[':status'] === UNSUPPORTED_TYPE) return CODES.INVALID_ARGUMENT.number
  return CODES[isLeft(stream) ? 'CANCELLED' : (BY_RESET.get(rstCode) ?? 'INTERNAL')].number
}

const FAILURE = Symbol('what ended the call')

/** Takes the code that the client of a closed stream sees, and the error that ended its call. */
export type OnEnd = (code: number, failure: ApiError | undefined) => void

/**
 * The head and the trailers of an answer on a bare stream. Every step has no effect once the client is gone. It is a class because every
 * call has one, and what a stream holds outlives it.
 */
export class GrpcHead implements OnClose, Noted {
  next: OnClose | undefined
  #trailers: OutgoingHttpHeaders
  readonly #stream: ServerHttp2Stream & { [FAILURE]?: ApiError | undefined }
  readonly #type: string | undefined
  #ended: OnEnd

  /**
   * `ended` is called once, when the stream is closed. `type` is the content type of answers of our own; those of a relayed service have
   * theirs.
   */
  constructor(stream: ServerHttp2Stream, ended: OnEnd, type?: string) {
    this.next = undefined
    this.#trailers = NONE
    this.#stream = stream
    this.#type = type
    this.#ended = ended
    stream.on('error', ignore)
    // What serves a call may load first. A stream that has closed meanwhile does not tell it again.
    if (this.isGone()) this.over()
    else whenClosed(stream, this)
  }

  /** It is noted on the stream: a time limit ends a call that has another head. */
  get failure(): ApiError | undefined {
    return this.#stream[FAILURE]
  }

  set failure(error: ApiError | undefined) {
    this.#stream[FAILURE] = error
  }

  over(): void {
    this.#ended(closedCode(this.#stream), this.failure)
    this.#ended = ignore
    this.#trailers = NONE
  }

  isGone(): boolean {
    return this.#stream.closed || this.#stream.destroyed
  }

  /** Sends a head that messages follow, and completes it if it is our own; `trailers` are sent after them. */
  begin(head: OutgoingHttpHeaders, trailers: OutgoingHttpHeaders): void {
    if (this.isGone()) return
    this.#trailers = trailers
    this.#stream.on('wantTrailers', () => this.#sendTrailers())
    if (this.#type !== undefined) {
      head[':status'] = 200
      head['content-type'] = this.#type
    }
    this.#stream.respond(head, BEFORE_MESSAGES)
  }

  /** Replaces the trailers. */
  trailers(trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers
  }

  /** Sends a head that no message follows. */
  whole(head: OutgoingHttpHeaders): void {
    if (!this.isGone()) this.#stream.respond(head, WHOLE)
  }

  /** Ends the answer with these trailers, whatever was sent before. The client may still be sending: what comes is discarded. */
  end(trailers: OutgoingHttpHeaders): void {
    this.#stream.resume()
    if (!this.#stream.headersSent) {
      const own = this.#type === undefined ? OK_HEAD : { ...OK_HEAD, 'content-type': this.#type, ...ACCEPTED }
      this.whole({ ...own, ...trailers })
    } else if (!this.isGone()) {
      this.#trailers = trailers
      this.#stream.end()
    }
  }

  /** Answers an unknown codec: a content type that HTTP does not take (gRPC over HTTP/2, Requests). */
  refuseType(): void {
    this.failure = new ApiError('INVALID_ARGUMENT', 'the content type names no codec that is known', { http: UNSUPPORTED_TYPE })
    this.#stream.resume()
    this.whole({ ':status': UNSUPPORTED_TYPE, 'accept-post': TYPES })
  }

  #sendTrailers(): void {
    try {
      this.#stream.sendTrailers(this.#trailers)
    } catch {
      reset(this.#stream, constants.NGHTTP2_INTERNAL_ERROR)
    }
  }
}

const ignore = () => {}
const NONE = {}
const UNSUPPORTED_TYPE = 415
const BEFORE_MESSAGES = { waitForTrailers: true, sendDate: false }
const WHOLE = { endStream: true, sendDate: false }
const OK_HEAD = { ':status': 200, 'content-type': 'application/grpc' }
const ACCEPTED = { 'grpc-accept-encoding': 'identity,gzip' }
const TYPES = 'application/grpc, application/grpc+proto, application/grpc+json'

/** Spaces at the ends are encoded as well, because no header may begin or end with one (RFC 9113 §8.2.1). */
const ENCODED = /[^\x20-\x7e]+|%|^ +|(?<! ) +$/g

/**
 * Encodes a message for the `grpc-message` trailer: `café: 5%` becomes `caf%C3%A9: 5%25`. Nothing but bytes outside 0x20 to 0x7E and the
 * percent sign are encoded (gRPC over HTTP/2, Responses). Clients that decode by `decodeURI` show any other encoded character as it came.
 */
export function grpcMessage(message: string): string {
  return message.replace(ENCODED, (piece) => Buffer.from(piece).toString('hex').toUpperCase().replace(/../g, '%$&'))
}

/**
 * Bytes of an encoded message. The trailers are headers: C-core refuses more than 8 KiB of them, and Node ends the connection at 64 KiB. The
 * message stands in them twice, beside the details.
 */
const MOST = 1500

const CUT = '…'

/** Returns a message that trailers can carry: a longer one is cut between two characters. */
function shortMessage(message: string): string {
  if (message.length <= MOST / LONGEST) return message
  let room = MOST
  let kept = 0
  let end = 0
  for (const character of message) {
    room -= encodedLength(character)
    if (room < 0) return message.slice(0, kept) + CUT
    end += character.length
    if (room >= encodedLength(CUT)) kept = end
  }
  return message
}

/** Bytes that one unit of UTF-16 becomes: `%E2%80%A6`. */
const LONGEST = 9

function encodedLength(character: string): number {
  const isPlain = character >= ' ' && character <= '~' && character !== '%'
  return isPlain ? 1 : 3 * Buffer.byteLength(character)
}

/** The tags of google.rpc.Status and google.protobuf.Any: the number of a field and how its value is written. */
const CODE = 0x08
const MESSAGE = 0x12
const DETAILS = 0x1a
const TYPE_URL = 0x0a
const VALUE = 0x12

const TYPE_PREFIX = 'type.googleapis.com/'

/** Encodes a google.rpc.Status. It is the one message that the wire itself writes, so it needs no descriptors. */
export function statusBytes({ code, message, details }: WireStatus): Buffer {
  const any = details.map(({ type, value }) => joined([...field(TYPE_URL, Buffer.from(TYPE_PREFIX + type)), ...field(VALUE, value)]))
  return joined([Buffer.from([CODE, code]), ...field(MESSAGE, Buffer.from(message)), ...any.flatMap((one) => field(DETAILS, one))])
}

/** Without padding, as the values of binary metadata are written. */
export function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('base64')
    .replace(/(?<!=)=+$/, '')
}

function field(tag: number, value: Uint8Array): readonly Uint8Array[] {
  return [Buffer.from([tag, ...varint(value.length)]), value]
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}

function joined(pieces: readonly Uint8Array[]): Buffer {
  return Buffer.concat(pieces, lengthOf(pieces))
}

/** The wire type of a field with a length. */
export const DELIMITED = 2

/** Bytes of the fields of fixed length, by wire type. */
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 }

/** Where a field of a message stands: from its tag, and from its content, to its end. */
interface Field {
  readonly number: number
  /** Its wire type. */
  readonly kind: number
  readonly begin: number
  readonly from: number
  readonly end: number
}

/** Yields the fields of a message. Throws `broken` if the bytes are none, or if they hold a group, which no message of these services has. */
export function* fieldsOf(bytes: Uint8Array, broken: () => Error): Generator<Field> {
  let at = 0
  const read = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at]
      if (byte === undefined) throw broken()
      at += 1
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const begin = at
    const tag = read()
    const kind = tag % 8
    const length = kind === 0 ? undefined : kind === DELIMITED ? read() : (FIXED[kind] ?? Number.NaN)
    const from = at
    if (length === undefined) read()
    else at += length
    if (!(at <= bytes.length)) throw broken()
    yield { number: Math.floor(tag / 8), kind, begin, from, end: at }
  }
}

/** Returns the trailers of a reply: its own metadata, and its status. */
export function grpcTrailers(reply: WireReply): Record<string, string | string[]> {
  const own = reply.trailers && metadata(reply.trailers)
  return { ...own, ...('status' in reply ? statusTrailers(reply.status) : OK) }
}

const OK = { 'grpc-status': '0' }

function statusTrailers({ code, message, details }: WireStatus) {
  const short = shortMessage(message)
  return {
    'grpc-status': String(code),
    ...(short !== '' && { 'grpc-message': grpcMessage(short) }),
    ...(details.length > 0 && { 'grpc-status-details-bin': unpadded(statusBytes({ code, message: short, details })) }),
  }
}

/**
 * Returns the status of an ApiError, with the time after which a client may ask again but without its details, which are JSON. Any other
 * exception is INTERNAL.
 */
export function failureStatus(thrown: unknown): WireStatus {
  const { code, message, headers } = thrown instanceof ApiError ? thrown : INTERNAL
  return { code: CODES[code].number, message, details: retryInfo(headers['retry-after']) }
}

const INTERNAL = new ApiError('INTERNAL', 'internal error')

/** Milliseconds in each unit of `grpc-timeout`. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/** Reads `grpc-timeout`, as in `250m`, into milliseconds. A malformed one is INTERNAL, as with the servers of grpc-go. */
export function grpcTimeout(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? []
  if (digits === undefined) throw unreadableCall('malformed grpc-timeout')
  return Math.ceil(Number(digits) * (UNITS[unit] ?? 0))
}

/** Reads `connect-timeout-ms`. A malformed one is INVALID_ARGUMENT. */
export function connectTimeout(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (!/^\d{1,10}$/.test(header)) throw new ApiError('INVALID_ARGUMENT', 'connect-timeout-ms is a number of at most ten digits')
  return Number(header)
}
