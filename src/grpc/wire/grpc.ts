import { once } from 'node:events'
import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { ApiError } from '../../errors.ts'
import { type OnClose, type Signal, whenClosed } from '../../serve/signals.ts'
import { CallSignal, carry, type WireCall, type WireHandler, type WireReply } from './call.ts'
import { framed, framesOf, gzipped, lengthOf, readFramed, readMessages, sendPieces, type WireSettings } from './framing.ts'
import { closedCode, failureStatus, grpcTimeout, grpcTrailers, metadata } from './status.ts'

/** The content types of gRPC, with the codec of their messages. */
const TYPE = /^application\/grpc(?:\+(proto|json))? *(?:;|$)/i

/** Reads the codec of a call from its content type; undefined if it is unknown. */
export function grpcCodec({ 'content-type': type = '' }: IncomingHttpHeaders): 'proto' | 'json' | undefined {
  const [known, codec = 'proto'] = TYPE.exec(type) ?? []
  return known === undefined ? undefined : (codec.toLowerCase() as 'proto' | 'json')
}

/**
 * The head and the trailers of an answer on a bare stream. It is a class because every call has one, and what a stream holds outlives it.
 */
export class GrpcHead implements OnClose {
  next: OnClose | undefined
  #trailers: OutgoingHttpHeaders
  readonly #stream: ServerHttp2Stream
  readonly #type: string
  #ended: (code: number) => void

  /** `ended` is called once, when the stream is closed, with the code that the client sees. */
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ended: (code: number) => void) {
    this.next = undefined
    this.#trailers = NONE
    this.#stream = stream
    this.#type = headers['content-type'] ?? ''
    this.#ended = ended
    stream.on('error', ignore)
    whenClosed(stream, this)
  }

  over(): void {
    this.#ended(closedCode(this.#stream))
    this.#ended = ignore
    this.#trailers = NONE
  }

  /** Sends a head that messages follow, and completes it for that; `trailers` are sent after them. */
  begin(head: OutgoingHttpHeaders, trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers
    this.#stream.on('wantTrailers', () => this.#sendTrailers())
    head[':status'] = 200
    head['content-type'] = this.#type
    this.#stream.respond(head, BEFORE_MESSAGES)
  }

  /** Replaces the trailers. */
  trailers(trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers
  }

  /** Sends head and trailers in one block; no message follows. */
  whole(trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers
    this.#stream.respond({ ':status': 200, 'content-type': this.#type, ...ACCEPTED, ...trailers }, WHOLE)
  }

  /** Answers an unknown codec: a content type that HTTP does not take (gRPC over HTTP/2, Requests). */
  refuseType(): void {
    this.#stream.resume()
    this.#stream.respond({ ':status': 415, 'accept-post': TYPES }, WHOLE)
  }

  #sendTrailers(): void {
    try {
      this.#stream.sendTrailers(this.#trailers)
    } catch {
      this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    }
  }
}

const ignore = () => {}
const NONE = {}
const BEFORE_MESSAGES = { waitForTrailers: true, sendDate: false }
const WHOLE = { endStream: true, sendDate: false }
const ACCEPTED = { 'grpc-accept-encoding': 'identity,gzip' }
const TYPES = 'application/grpc, application/grpc+proto, application/grpc+json'

/** Serves one unary call of gRPC. `ended` is called once, when the stream is closed, with the code that the client sees. */
export type ServeGrpc = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  handler: WireHandler,
  ended?: (code: number) => void,
) => void

/** Creates what serves unary calls of gRPC on bare HTTP/2 streams. */
export function createServeGrpc(settings: WireSettings): ServeGrpc {
  return (stream, headers, handler, ended = () => {}) => {
    const head = new GrpcHead(stream, headers, ended)
    const codec = grpcCodec(headers)
    if (codec === undefined) return head.refuseType()
    const write = createWrite(stream, head, headers['grpc-encoding'] === 'gzip')
    try {
      const timeoutMs = grpcTimeout(headers['grpc-timeout'] as string | undefined)
      const signal = new CallSignal(stream, settings.deadlines, timeoutMs)
      const path = headers[':path'] ?? ''
      const call = { path, protocol: 'grpc', codec, headers, timeoutMs, isGet: false } as const
      const read = () => readFramed({ body: stream, ending: stream, headers }, signal, settings)
      carry({ call, signal, read, write }, handler, settings.failed).catch(settings.failed)
    } catch (thrown) {
      void write({ status: failureStatus(thrown) })
    }
  }
}

/** Has no effect once the client is gone. The client may still be sending: what comes is discarded. */
function createWrite(stream: ServerHttp2Stream, head: GrpcHead, isCompressed: boolean) {
  const answer = (reply: WireReply, zipped?: readonly Uint8Array[]) => {
    if (stream.closed || stream.destroyed) return
    if (stream.headersSent) return stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    if (!stream.readableEnded) stream.resume()
    const own = metadata(reply.headers)
    const trailers = grpcTrailers(reply)
    if ('message' in reply) {
      if (zipped) own['grpc-encoding'] = 'gzip'
      head.begin(own, trailers)
      const frames = framesOf(reply, zipped)
      sendPieces(stream, frames, lengthOf(frames))
    } else if (Object.keys(own).length > 0) {
      head.begin(own, trailers)
      stream.end()
    } else head.whole(trailers)
  }
  return (reply: WireReply): void | Promise<void> => {
    if ('status' in reply || reply.isFramed || !isCompressed) return answer(reply)
    return gzipped(reply.message).then((zipped) => answer(reply, zipped))
  }
}

/** A call of a method that takes and gives streams of messages. */
export interface WireStreamCall extends Omit<WireCall, 'message' | 'signal'> {
  /** Fires with an ApiError when the client goes away (CANCELLED) or its time is over (DEADLINE_EXCEEDED). */
  readonly signal: Signal
  /** The messages of the client in order. Each is valid until the next is asked for. */
  readonly messages: AsyncIterable<Buffer>
}

/**
 * Gives the messages of the answer; its end is OK, an ApiError its status. It is asked for the next one when the client has taken those
 * before. It ends when `signal` fires.
 */
export type WireStreamHandler = (call: WireStreamCall) => AsyncIterable<Uint8Array>

/** Serves one call of gRPC with a stream of messages. `ended` is called once, with the code that the client sees. */
export type ServeGrpcStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  handler: WireStreamHandler,
  ended?: (code: number) => void,
) => void

/** Creates what serves streaming calls: health and reflection. They have no deadline but the client's, and `mostMs`. */
export function createServeGrpcStream(settings: Omit<WireSettings, 'deadlines'>, mostMs?: number): ServeGrpcStream {
  return (stream, headers, handler, ended = () => {}) => {
    const head = new GrpcHead(stream, headers, ended)
    const codec = grpcCodec(headers)
    if (codec === undefined) return head.refuseType()
    let isOver = false
    const finish = (thrown?: unknown) => {
      if (isOver || stream.closed || stream.destroyed) return
      isOver = true
      if (thrown !== undefined && !(thrown instanceof ApiError)) settings.failed(thrown)
      const trailers = grpcTrailers(thrown === undefined ? { message: [] } : { status: failureStatus(thrown) })
      stream.resume()
      if (!stream.headersSent) return head.whole(trailers)
      head.trailers(trailers)
      stream.end()
    }
    const serve = async () => {
      const wanted = grpcTimeout(headers['grpc-timeout'] as string | undefined)
      const timeoutMs = mostMs === undefined ? wanted : Math.min(mostMs, wanted ?? mostMs)
      const signal = new CallSignal(stream, undefined, timeoutMs)
      signal.addEventListener('abort', () => finish(signal.reason))
      if (signal.aborted) return finish(signal.reason)
      const messages = readMessages(stream, headers, settings)
      const call = { path: headers[':path'] ?? '', protocol: 'grpc', codec, headers, timeoutMs, isGet: false, signal, messages } as const
      try {
        for await (const message of handler(call)) {
          if (isOver || signal.aborted) return
          if (!stream.headersSent) head.begin({}, {})
          await taken(stream, message)
        }
        finish()
      } finally {
        signal.answered()
      }
    }
    serve().catch(finish)
  }
}

/** Writes a message, and resolves when the client has taken enough for the next one, or is gone. */
async function taken(stream: ServerHttp2Stream, message: Uint8Array): Promise<void> {
  const pieces = framed([message], false)
  if (stream.closed || stream.destroyed || stream.write(Buffer.concat(pieces, lengthOf(pieces)))) return
  const over = new AbortController()
  const gone = () => over.abort()
  stream.once('close', gone)
  await once(stream, 'drain', { signal: over.signal }).catch(() => {})
  stream.off('close', gone)
}
