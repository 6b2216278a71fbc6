import { once } from 'node:events'
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { ApiError, asApiError } from '../../errors.ts'
import { reset } from '../../serve/listen/http2.ts'
import type { Signal } from '../../serve/signals.ts'
import { CallSignal, type Carried, carry, type WireCall, type WireHandler, type WireReply } from './call.ts'
import { framed, framesOf, gzipped, lengthOf, readFramed, readMessages, sendPieces, type WireSettings } from './framing.ts'
import { failureStatus, GrpcHead, grpcTimeout, grpcTrailers, metadata, type OnEnd } from './status.ts'

/** The content types of gRPC, with the codec of their messages. */
const TYPE = /^application\/grpc(?:\+(proto|json))? *(?:;|$)/i

/** Reads the codec of a call from its content type; undefined if it is unknown. */
function grpcCodec({ 'content-type': type = '' }: IncomingHttpHeaders): 'proto' | 'json' | undefined {
  const [known, codec = 'proto'] = TYPE.exec(type) ?? []
  return known === undefined ? undefined : (codec.toLowerCase() as 'proto' | 'json')
}

/** Serves one call of gRPC. `ended` is called once, when the stream is closed. */
type Serve<Handler> = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, handler: Handler, ended?: OnEnd) => void

/** Creates what serves unary calls of gRPC on bare HTTP/2 streams. */
export function createServeGrpc(settings: WireSettings): Serve<WireHandler> {
  return (stream, headers, handler, ended = () => {}) => {
    const head = new GrpcHead(stream, ended, headers['content-type'] ?? '')
    const codec = grpcCodec(headers)
    if (codec === undefined) return head.refuseType()
    const carried: Carried = {
      call: { path: headers[':path'] ?? '', protocol: 'grpc', codec, headers, isGet: false },
      timeout: headers['grpc-timeout'] as string | undefined,
      readTimeout: grpcTimeout,
      read: (signal) => readFramed({ body: stream, ending: stream, headers }, signal, settings),
      write: createWrite(stream, head, headers['grpc-encoding'] === 'gzip'),
      noted: head,
    }
    carry(carried, stream, handler, settings)
  }
}

/** Has no effect once the client is gone. The client may still be sending: what comes is discarded. */
function createWrite(stream: ServerHttp2Stream, head: GrpcHead, isCompressed: boolean) {
  const answer = (reply: WireReply, zipped?: readonly Uint8Array[]) => {
    if (head.isGone()) return
    if (stream.headersSent) return reset(stream, constants.NGHTTP2_INTERNAL_ERROR)
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
    } else head.end(trailers)
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

/** Creates what serves calls with streams of messages: health and reflection. They have no deadline but the client's, and `mostMs`. */
export function createServeGrpcStream(settings: Omit<WireSettings, 'deadlines'>, mostMs?: number): Serve<WireStreamHandler> {
  return (stream, headers, handler, ended = () => {}) => {
    const head = new GrpcHead(stream, ended, headers['content-type'] ?? '')
    const codec = grpcCodec(headers)
    if (codec === undefined) return head.refuseType()
    let isOver = false
    const finish = (thrown?: unknown) => {
      if (isOver || head.isGone()) return
      isOver = true
      if (thrown !== undefined && !(thrown instanceof ApiError)) settings.failed(thrown)
      if (thrown !== undefined) head.failure = asApiError(thrown)
      head.end(grpcTrailers(thrown === undefined ? { message: [] } : { status: failureStatus(thrown) }))
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
