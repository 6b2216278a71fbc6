import { constants, type ServerHttp2Stream } from 'node:http2'
import { ApiError, CODES, retryInfo } from '../../errors.ts'
import { grouped, relayableHeaders } from '../../heads.ts'
import type { WireMetadata, WireReply, WireStatus } from './call.ts'
import { lengthOf } from './framing.ts'

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

type ClosedStream = Partial<Pick<ServerHttp2Stream, 'rstCode' | 'sentTrailers' | 'sentHeaders'>>

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/**
 * Returns the status that the client of a closed stream sees: the one that was sent, or gRPC's meaning of a reset. A stream that a time limit
 * ended may have a status that was never sent.
 */
export function closedCode({ rstCode: reset = 0, sentTrailers, sentHeaders }: ClosedStream): number {
  const status = sentTrailers?.['grpc-status'] ?? sentHeaders?.['grpc-status']
  if (reset === NGHTTP2_CANCEL) return CODES.CANCELLED.number
  if (reset === NGHTTP2_REFUSED_STREAM) return CODES.UNAVAILABLE.number
  if (reset !== NGHTTP2_NO_ERROR) return CODES.INTERNAL.number
  return status === undefined ? CODES.UNKNOWN.number : Number(status)
}

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
export function shortMessage(message: string): string {
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

/** The names and values that follow an answer of gRPC or gRPC-Web. */
export type Trailers = Record<string, string | string[]>

/** Returns the trailers of a reply: its own metadata, and its status. */
export function grpcTrailers(reply: WireReply): Trailers {
  const own = reply.trailers && metadata(reply.trailers)
  return { ...own, ...('status' in reply ? statusTrailers(reply.status) : OK) }
}

const OK = { 'grpc-status': '0' }

function statusTrailers({ code, message, details }: WireStatus): Trailers {
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
  if (digits === undefined) throw new ApiError('INTERNAL', 'malformed grpc-timeout')
  return Math.ceil(Number(digits) * (UNITS[unit] ?? 0))
}

/** Reads `connect-timeout-ms`. A malformed one is INVALID_ARGUMENT. */
export function connectTimeout(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (!/^\d{1,10}$/.test(header)) throw new ApiError('INVALID_ARGUMENT', 'connect-timeout-ms is a number of at most ten digits')
  return Number(header)
}
