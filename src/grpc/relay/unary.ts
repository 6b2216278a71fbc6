import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { ApiError, CODES, codeName, unrelayable } from '../../errors.ts'
import { CONNECTION_SPECIFIC, grouped, relayableHeaders } from '../../heads.ts'
import { endToEnd } from '../../serve/heads.ts'
import type { Signal } from '../../serve/signals.ts'
import type { Service } from '../../serve/upstream/health.ts'
import type { WireCall, WireMetadata, WireStatus } from '../wire/call.ts'
import { framed, PREFIX } from '../wire/framing.ts'
import { DELIMITED, fieldsOf } from '../wire/status.ts'
import { brokenOff, foreignAnswer, type Sent, type Sessions, tooLong, unreachable } from './session.ts'

type Details = WireStatus['details']

/** Numbers of fields: `details` of google.rpc.Status, both of google.protobuf.Any. */
const DETAILS = 3
const TYPE_URL = 1
const VALUE = 2

/**
 * Reads the details of a `grpc-status-details-bin` trailer: the base64 of a google.rpc.Status. Bytes that are no such message have none:
 * they only explain an error that code and message tell already.
 */
export function detailsOf(trailer: unknown): Details {
  if (typeof trailer !== 'string') return []
  try {
    return [...partsOf(Buffer.from(trailer, 'base64'))].filter(([number]) => number === DETAILS).map(([, any]) => detailOf(any))
  } catch {
    return []
  }
}

function detailOf(any: Buffer): Details[number] {
  const fields = new Map(partsOf(any))
  const url = fields.get(TYPE_URL)?.toString() ?? ''
  return { type: url.slice(url.lastIndexOf('/') + 1), value: fields.get(VALUE) ?? Buffer.alloc(0) }
}

/** The fields of a message that have a length, with what they hold. */
function* partsOf(message: Buffer): Generator<readonly [number: number, content: Buffer]> {
  const broken = () => new RangeError('these bytes are no message')
  for (const { number, kind, from, end } of fieldsOf(message, broken)) if (kind === DELIMITED) yield [number, message.subarray(from, end)]
}

/** Headers of another protocol or of one connection. The call to the service has its own. */
const OTHERS =
  /^(?::|connect-|grpc-(?:timeout|encoding|accept-encoding|status|message|status-details-bin)$|content-|accept(?:-encoding)?$|date$|expect$|host$|x-grpc-web$|x-user-agent$)/

/** Services need not split binary metadata that Node has joined, and those of grpc-go refuse it. Its base64 has no comma. */
const separated = (name: string, value: IncomingHttpHeaders[string]) =>
  name.endsWith('-bin') && typeof value === 'string' ? value.split(/, ?/) : value

const isMetadata = (name: string) => !OTHERS.test(name) && !CONNECTION_SPECIFIC.has(name)

/** Milliseconds; gRPC writes a timeout with at most eight digits. */
const LONGEST = 99_999_999

/** Returns the headers of a unary call of ours. The client's metadata goes along. */
function unaryHeaders({ host, protocol }: URL, { path, headers, timeoutMs }: Pick<WireCall, 'path' | 'headers' | 'timeoutMs'>) {
  return {
    ...Object.fromEntries(
      Object.entries(endToEnd(headers)).flatMap(([name, value]) => (isMetadata(name) ? [[name, separated(name, value)]] : [])),
    ),
    ':method': 'POST',
    ':path': path,
    ':authority': host,
    ':scheme': protocol.slice(0, -1),
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(timeoutMs !== undefined && { 'grpc-timeout': `${Math.min(Math.max(1, Math.ceil(timeoutMs)), LONGEST)}m` }),
  } as OutgoingHttpHeaders
}

/** Returns the metadata of an answer's headers or trailers. Throws if a client cannot be given them. */
function metadataOf(service: Service, raw: readonly string[]): WireMetadata {
  const checked = relayableHeaders(
    2,
    raw.filter((_, at) => isMetadata(raw[at - (at % 2)] ?? '')),
  )
  if ('problem' in checked) throw unrelayable(service, checked.problem)
  return grouped(checked.headers)
}

/** Decodes a `grpc-message`. Bytes that are not encoded stay as they are. */
export function messageOfStatus(text: unknown): string {
  if (typeof text !== 'string') return ''
  return text.replace(/(?:%[\da-f]{2})+/gi, (piece) => Buffer.from(piece.replaceAll('%', ''), 'hex').toString())
}

export function isGrpcType(type: string | undefined): boolean {
  return /^application\/grpc(?:[+;]|$)/.test(type ?? '')
}

/** What a service answered: a message, or an error without one. */
interface UnaryAnswer {
  /** Undefined if the call succeeded. */
  readonly status: WireStatus | undefined
  /** Undefined with an error, and with `frames`. */
  readonly message: Buffer | undefined
  /** The messages of a stream with their frames, if it is not one message. Only a method that streams has them. */
  readonly frames?: Buffer
  readonly headers: WireMetadata
  readonly trailers: WireMetadata
}

/** Reads an answer. Throws the ApiError of one that is none. `streams` allows any number of messages. */
export function readAnswer({ head, trailers = head, body }: GatheredAnswer, service: Service, streams = false): UnaryAnswer {
  if (!isGrpcType(head.headers['content-type'])) throw foreignAnswer(service, Number(head.headers[':status']))
  const status = trailers.headers['grpc-status']
  if (status === undefined) throw unrelayable(service, 'its end without a status')
  const headers = trailers === head ? {} : metadataOf(service, head.raw)
  const metadata = { headers, trailers: metadataOf(service, trailers.raw) }
  if (status === '0' && streams && !isOneMessage(body)) {
    return { ...metadata, status: undefined, message: undefined, frames: checkedFrames(body, service) }
  }
  if (status === '0') return { ...metadata, status: undefined, message: onlyMessage(body, service) }
  const code = CODES[codeName(Number(status))].number || CODES.UNKNOWN.number
  const message = messageOfStatus(trailers.headers['grpc-message'])
  const details = detailsOf(trailers.headers['grpc-status-details-bin'])
  return { ...metadata, status: { code, message, details }, message: undefined }
}

function isOneMessage(body: Buffer): boolean {
  return body.length >= PREFIX && body.readUInt32BE(1) === body.length - PREFIX
}

function onlyMessage(body: Buffer, service: Service): Buffer {
  if (!isOneMessage(body)) throw unrelayable(service, 'its answer, which is not one message')
  if (body[0] !== 0) throw unrelayable(service, 'its message, which is compressed although nobody asked for it')
  return body.subarray(PREFIX)
}

/** Messages of one answer. To look at more of them in one turn of the event loop would keep everybody else waiting. */
const MOST_MESSAGES = 1_000_000

/** Returns the body if it is a row of whole messages, of which none is compressed. */
function checkedFrames(body: Buffer, service: Service): Buffer {
  let at = 0
  for (let count = 1; at + PREFIX <= body.length; count += 1) {
    if (count > MOST_MESSAGES) throw unrelayable(service, `its answer of more than ${MOST_MESSAGES} messages`)
    if (body[at] !== 0) throw unrelayable(service, 'its message, which is compressed although nobody asked for it')
    at += PREFIX + body.readUInt32BE(at + 1)
  }
  if (at !== body.length) throw unrelayable(service, 'its answer, which ends within a message')
  return body
}

/** Headers or trailers; `raw` has names and values in turn, and repeated names as often as they came. */
interface ReceivedHeaders {
  readonly headers: IncomingHttpHeaders
  readonly raw: readonly string[]
}

/** An answer as it arrived. */
interface GatheredAnswer {
  readonly head: ReceivedHeaders
  /** Undefined if the head was all. */
  readonly trailers: ReceivedHeaders | undefined
  readonly body: Buffer
}

type Arrived = [headers: IncomingHttpHeaders, flags: number, raw: readonly string[]]

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants

/**
 * Bytes that arrive, each copied to its place. To join a long message at its end would keep everybody else waiting. The first message says
 * how long it is, and memory that is not written to is none.
 */
function createBody(most: number) {
  let bytes = Buffer.alloc(0)
  let end = 0
  return {
    /** Returns false if that is too much. */
    add(piece: Buffer): boolean {
      if (end + piece.length > most) return false
      const wanted = end + piece.length
      if (wanted > bytes.length) {
        const likely = Math.max(2 * end, declaredIn(end < PREFIX ? Buffer.concat([bytes.subarray(0, end), piece]) : bytes))
        const larger = Buffer.allocUnsafe(Math.max(wanted, Math.min(most, likely)))
        bytes.copy(larger, 0, 0, end)
        bytes = larger
      }
      piece.copy(bytes, end)
      end = wanted
      return true
    },
    size: () => end,
    whole: () => bytes.subarray(0, end),
  }
}

/** Bytes of the first message with its frame; 0 if its length has not arrived. */
function declaredIn(bytes: Buffer): number {
  return bytes.length < PREFIX ? 0 : PREFIX + bytes.readUInt32BE(1)
}

/**
 * Collects an answer of at most `answerBytes` up to the end of its stream. A stream that is left is reset, so that the service stops as
 * well.
 */
function gather({ stream, mayBeDone }: Sent, { signal, grown }: UnaryCall, service: Service, answerBytes: number): Promise<GatheredAnswer> {
  return new Promise((resolve, reject) => {
    let head: ReceivedHeaders | undefined
    let trailers: ReceivedHeaders | undefined
    const body = createBody(answerBytes + PREFIX)
    const leave = (reason: unknown) => {
      reject(reason)
      stream.close(NGHTTP2_CANCEL)
      stream.resume()
    }
    const stop = () => leave(signal.reason)
    signal.addEventListener('abort', stop)
    stream.on('error', () => {})
    stream.once('response', (...[headers, , raw]: Arrived) => {
      head = { headers, raw }
    })
    stream.once('trailers', (...[headers, , raw]: Arrived) => {
      trailers = { headers, raw }
    })
    stream.on('data', (piece: Buffer) => {
      try {
        if (!body.add(piece)) throw tooLong(service, answerBytes)
        grown?.(body.size())
      } catch (thrown) {
        leave(thrown)
      }
    })
    stream.once('close', () => {
      signal.removeEventListener('abort', stop)
      if (head && stream.rstCode === NGHTTP2_NO_ERROR) resolve({ head, trailers, body: body.whole() })
      else reject(mayBeDone() ? brokenOff(service) : unreachable(service))
    })
  })
}

/** One message for a method of a service; its headers are those of the client. */
type UnaryCall = Pick<WireCall, 'path' | 'headers' | 'message' | 'timeoutMs'> & {
  readonly signal: Signal
  /** The answer may be a stream of messages. */
  readonly streams?: boolean
  /** Takes the bytes that have arrived. Throws the ApiError of an answer that finds no room. */
  readonly grown?: (size: number) => void
}

/**
 * Calls a method with one message and returns its answer. Rejects with an ApiError if none arrives: UNAVAILABLE only if the service
 * certainly did nothing, UNKNOWN if it may have done what was asked.
 *
 *     await callUnary({ path: '/chainguard.platform.iam.Groups/List', headers, message, timeoutMs: undefined, signal })
 */
export type CallUnary = (call: UnaryCall) => Promise<UnaryAnswer>

export function createCallUnary(sessions: Sessions, url: URL, service: Service, answerBytes: number): CallUnary {
  const send = async (call: UnaryCall): Promise<Sent> => {
    const { signal, message } = call
    if (signal.aborted) throw signal.reason
    const waiting = {
      endAfterHeaders: false,
      get closed() {
        return signal.aborted
      },
    }
    const sent = await sessions.request(unaryHeaders(url, call), waiting)
    if (!sent) throw signal.reason
    sent.stream.end(Buffer.concat(framed([message], false)))
    return sent
  }
  return async (call) => {
    const first = await send(call)
    // A service that left before it took the call has done nothing, and its successor may be there.
    const again = async (error: unknown) => {
      if (error instanceof ApiError && error.unsent) return gather(await send(call), call, service, answerBytes)
      throw error
    }
    return readAnswer(await gather(first, call, service, answerBytes).catch(again), service, call.streams)
  }
}
