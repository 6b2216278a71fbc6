import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { Readable, type Writable } from 'node:stream'
import { createGzip, gunzip, gzip as gzipOf } from 'node:zlib'
import { ApiError, askAgain, CODES } from '../../errors.ts'
import type { Budget } from '../../serve/bounds.ts'
import type { Deadlines } from '../../serve/listen/times.ts'
import { gather } from '../../serve/request.ts'
import type { Closing, Signal } from '../../serve/signals.ts'

/** What all calls of the wire share. */
export interface WireSettings {
  /** Maximum bytes of a request message, as it came and inflated. */
  readonly requestBytes: number
  /** The bytes of all messages together until they are answered. */
  readonly budget: Budget
  /** Watches how long each call takes. */
  readonly deadlines: Deadlines
  /** Takes an exception of a handler that is no ApiError. */
  failed(error: unknown): void
}

function overBudget(): ApiError {
  return askAgain('UNAVAILABLE', 'the messages in memory take more than limits.bodiesBytes allows')
}

/** Bytes before each message: one of flags, four of its length (gRPC over HTTP/2, Length-Prefixed-Message). */
export const PREFIX = 5

/** The error of a request that cannot be read. Servers of gRPC say INTERNAL, although its client caused it. */
export function unreadableCall(message: string, cause?: unknown): ApiError {
  return new ApiError('INTERNAL', message, { cause, http: CODES.INVALID_ARGUMENT.http })
}

const COMPRESSED = 1

/** A message without its frame. */
interface Unframed {
  readonly isCompressed: boolean
  readonly message: Buffer
}

/** Takes the one message of a unary request out of its frame. The codes are those of gRPC for a wrong number of messages and a wrong frame. */
function unframe(body: Buffer, most: number): Unframed {
  if (body.length === 0) throw new ApiError('UNIMPLEMENTED', 'the request holds no message, and the method takes one')
  const frame = frameAt(body, 0, most)
  if (!frame) throw unreadableCall('the request ends within a message')
  if (frame.end < body.length) throw new ApiError('UNIMPLEMENTED', 'the request holds more than one message, and the method takes one')
  return frame
}

/** Returns the frame that begins at `start`, or undefined if it is not whole. Throws if it is malformed or larger than `most`. */
function frameAt(body: Buffer, start: number, most: number): (Unframed & { readonly end: number }) | undefined {
  if (body.length < start + PREFIX) return undefined
  const flags = body[start] ?? 0
  if (flags > COMPRESSED) throw unreadableCall(`the flags ${flags} of a message are unknown`)
  const length = body.readUInt32BE(start + 1)
  if (length > most) throw tooLarge(most)
  const end = start + PREFIX + length
  return end > body.length ? undefined : { isCompressed: flags === COMPRESSED, message: body.subarray(start + PREFIX, end), end }
}

/** The error for a message over `limits.requestBytes`, or over the lower limit of its method. */
export function tooLarge(most: number): ApiError {
  return new ApiError('RESOURCE_EXHAUSTED', `the message is larger than limits.requestBytes or its method allows (${most})`)
}

/** Frames a message. */
export function framed(pieces: readonly Uint8Array[], isCompressed: boolean): readonly Uint8Array[] {
  return [prefix(isCompressed ? COMPRESSED : 0, lengthOf(pieces)), ...pieces]
}

/** Frames the message of a reply, `zipped` if it was compressed. Messages that have their frames stay as they are. */
export function framesOf(
  { message, isFramed }: { readonly message: readonly Uint8Array[]; readonly isFramed?: true },
  zipped: readonly Uint8Array[] | undefined,
): readonly Uint8Array[] {
  return isFramed ? message : framed(zipped ?? message, zipped !== undefined)
}

/** Returns the bytes before a message. */
export function prefix(flags: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX)
  bytes[0] = flags
  bytes.writeUInt32BE(length, 1)
  return bytes
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}

/** Bytes that one byte of gzip can become. */
const MOST_INFLATION = 1032

/** A message and the budget that it holds. */
export interface Inflated {
  readonly message: Buffer
  /** Gives the budget back. */
  release(): void
}

/** What bounds a message that is read. */
type Bounds = Pick<WireSettings, 'requestBytes' | 'budget'>

/**
 * Inflates a message, never beyond `requestBytes`; RESOURCE_EXHAUSTED beyond. Room for the most that it can become is taken before.
 * `malformed` is the code for bytes that are not gzip.
 */
export async function inflated(
  message: Buffer,
  { requestBytes, budget }: Bounds,
  malformed: 'INTERNAL' | 'INVALID_ARGUMENT',
): Promise<Inflated> {
  if (message.length === 0) return { message, release() {} }
  const most = Math.min(requestBytes, message.length * MOST_INFLATION)
  if (!budget.take(most)) throw overBudget()
  try {
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      gunzip(message, { maxOutputLength: requestBytes }, (error, whole) => (error ? reject(error) : resolve(whole)))
    })
    budget.give(most - bytes.length)
    return { message: bytes, release: () => budget.give(bytes.length) }
  } catch (error) {
    budget.give(most)
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(requestBytes)
    throw new ApiError(malformed, 'the message cannot be decompressed', { cause: error, http: CODES.INVALID_ARGUMENT.http })
  }
}

/** Inflates a message that its frame marks as compressed. */
function inflatedFrame({ message }: Unframed, coding: Coding, bounds: Bounds): Promise<Inflated> {
  if (coding !== 'gzip') throw unreadableCall('a message is marked as compressed, and grpc-encoding names no compression')
  return inflated(message, bounds, 'INTERNAL')
}

/** Bytes. A smaller message hardly shrinks. */
const WORTH = 1024

/** Compresses a message, or returns undefined if that is not worth its cost. */
export async function gzipped(pieces: readonly Uint8Array[]): Promise<readonly Uint8Array[] | undefined> {
  const length = lengthOf(pieces)
  if (length < WORTH) return undefined
  if (length > AT_ONCE) return all(Readable.from(pieces).pipe(createGzip({ chunkSize: COPIED })))
  return new Promise((resolve, reject) => {
    gzipOf(Buffer.concat(pieces), (error, bytes) => (error ? reject(error) : resolve([bytes])))
  })
}

/** A request, and the answer or stream that ends with it. */
interface WireRequest {
  readonly body: IncomingMessage | ServerHttp2Stream
  readonly ending: Closing
  readonly headers: IncomingHttpHeaders
}

/** Reads a body of at most `requestBytes` and the bytes of its frame; RESOURCE_EXHAUSTED beyond. */
export function readBody(request: WireRequest, frameBytes: number, signal: Signal, settings: WireSettings): Promise<Buffer> {
  const { requestBytes, budget } = settings
  const most = requestBytes + frameBytes
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > most) return refused(declared <= 2 * most ? discarded(request, signal) : undefined, requestBytes)
  return gather(request.body, request.ending, { most, budget, tooLarge: () => tooLarge(requestBytes), overBudget }, signal)
}

async function refused(until: Promise<void> | undefined, requestBytes: number): Promise<never> {
  await until
  throw tooLarge(requestBytes)
}

/**
 * Reads a body that nobody wants. Clients of connect-go end their request when its refusal arrives. It is then shorter than declared, and
 * Node's HTTP/2 resets the stream before the refusal is whole.
 */
function discarded({ body }: WireRequest, signal: Signal): Promise<void> {
  return new Promise((resolve) => {
    body.once('end', resolve).once('error', () => resolve())
    signal.addEventListener('abort', () => resolve())
    body.resume()
  })
}

/** A request with a message in a frame. */
interface FramedRequest extends WireRequest {
  /** True if base64 is around the frame. */
  readonly isText?: boolean
}

/** Reads the one message of a unary request of gRPC or gRPC-Web. Rejects with an ApiError that has the code of gRPC for what is wrong. */
export async function readFramed(request: FramedRequest, signal: Signal, settings: WireSettings): Promise<Inflated> {
  const { requestBytes } = settings
  const coding = grpcCoding(request.headers)
  const body = request.isText
    ? decoded(await readBody(request, textLength(requestBytes + PREFIX) - requestBytes, signal, settings))
    : await readBody(request, PREFIX, signal, settings)
  const frame = unframe(body, requestBytes)
  return frame.isCompressed ? inflatedFrame(frame, coding, settings) : { message: frame.message, release: nothing }
}

/** The release of a message that holds no room. */
export const nothing = () => {}

/** Returns the length of bytes as base64. */
export function textLength(bytes: number): number {
  return Math.ceil(bytes / 3) * 4
}

function decoded(body: Buffer): Buffer {
  const text = body.toString('latin1')
  if (!/^[\w+/]*={0,2}$/.test(text)) throw unreadableCall('the request is not base64')
  return Buffer.from(text, 'base64')
}

type Coding = 'gzip' | 'identity'

/** Reads the name of a compression; `where` it stands. An unknown one is UNIMPLEMENTED, even when nothing is compressed. */
export function codingOf(coding: unknown, where: string): Coding {
  if (coding === undefined || coding === 'identity') return 'identity'
  if (coding !== 'gzip') throw new ApiError('UNIMPLEMENTED', `${where} is neither gzip nor identity`)
  return coding
}

function grpcCoding(headers: IncomingHttpHeaders): Coding {
  return codingOf(headers['grpc-encoding'], 'grpc-encoding')
}

/**
 * Reads the messages of a stream as they are wanted. What has arrived of a message holds room; a client that sends more than is read is
 * stopped by the window of its stream. Throws an ApiError for what is wrong with the request.
 */
export async function* readMessages(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  bounds: Bounds,
): AsyncGenerator<Buffer, void, undefined> {
  const coding = grpcCoding(headers)
  const arrived = createArrived(bounds)
  try {
    for await (const piece of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      arrived.add(piece)
      for (let frame = arrived.frame(); frame; frame = arrived.frame()) {
        if (!frame.isCompressed) {
          yield frame.message
          continue
        }
        const { message, release } = await inflatedFrame(frame, coding, bounds)
        try {
          yield message
        } finally {
          release()
        }
      }
    }
    if (arrived.length() > 0) throw unreadableCall('the request ends within a message')
  } finally {
    arrived.release()
  }
}

/** Bytes that have arrived, joined at once: each piece, if kept, would cost a hundred bytes of overhead. */
function createArrived({ requestBytes, budget }: Bounds) {
  let bytes = Buffer.alloc(0)
  let start = 0
  let end = 0
  return {
    add(piece: Buffer): void {
      bytes.copyWithin(0, start, end)
      end -= start
      start = 0
      const wanted = end + piece.length
      if (wanted > bytes.length) {
        const larger = Math.max(wanted, 2 * bytes.length)
        if (!budget.take(larger - bytes.length)) throw overBudget()
        bytes = Buffer.concat([bytes], larger)
      }
      piece.copy(bytes, end)
      end = wanted
    },
    /** Takes the next frame, if it is whole. It is valid until the next bytes are added. */
    frame() {
      const frame = frameAt(bytes.subarray(0, end), start, requestBytes)
      start = frame?.end ?? start
      return frame
    },
    length: () => end - start,
    release: () => budget.give(bytes.length),
  }
}

async function all(pieces: AsyncIterable<Buffer>): Promise<readonly Buffer[]> {
  const read: Buffer[] = []
  for await (const piece of pieces) read.push(piece)
  return read
}

/** Bytes. Less than that is cheaper to copy than to write piece by piece. */
const COPIED = 64 * 1024

/** Bytes. To hand over more than that in one turn of the event loop would keep everybody else waiting. */
const AT_ONCE = 2 ** 20

/**
 * Writes the pieces of an answer of so many bytes and ends it, with as few writes as possible. A long one follows the client's pace.
 * No empty piece is written: if the last one of a batch is empty, Node's HTTP/2 tells that all have gone while it still sends them. Their
 * memory may then hold bytes of other answers, and a stream that is broken off may end the process (`Http2Stream::OnTrailers`).
 */
export function sendPieces(sink: Writable, pieces: Iterable<Uint8Array>, length: number): void {
  if (length <= COPIED) return void sink.end(Buffer.concat([...pieces], length))
  if (length > AT_ONCE) return void Readable.from(slicesOf(pieces), { highWaterMark: 1 }).pipe(sink)
  sink.cork()
  for (const piece of pieces) if (piece.length > 0) sink.write(piece)
  sink.end()
}

/** Yields the same bytes in slices that are neither long nor, but for the last one, short. */
function* slicesOf(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let short: Uint8Array[] = []
  let length = 0
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += COPIED) {
      const slice = piece.subarray(at, at + COPIED)
      short.push(slice)
      length += slice.length
      if (length < COPIED) continue
      yield short.length === 1 ? slice : Buffer.concat(short, length)
      short = []
      length = 0
    }
  }
  if (length > 0) yield Buffer.concat(short, length)
}

/** Yields the base64 of the pieces. Only its end has padding. */
export function* inBase64(pieces: Iterable<Uint8Array>): Generator<Buffer> {
  let rest: Uint8Array = Buffer.alloc(0)
  for (const slice of slicesOf(pieces)) {
    const bytes = Buffer.concat([rest, slice])
    const whole = bytes.length - (bytes.length % 3)
    rest = bytes.subarray(whole)
    yield Buffer.from(bytes.toString('base64', 0, whole))
  }
  yield Buffer.from(Buffer.from(rest).toString('base64'))
}
