import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { ApiError } from '../errors.ts'
import type { Signal } from '../serve/signals.ts'
import { CallSignal } from './call-signal.ts'
import { framed, lengthOf } from './framing/frame.ts'
import { readMessages } from './framing/read-messages.ts'
import { GrpcHead, grpcCodec } from './grpc-head.ts'
import { grpcTrailers } from './status/grpc-trailers.ts'
import { failureStatus } from './status/wire-failure.ts'
import { grpcTimeout } from './timeout.ts'
import type { WireCall } from './wire-call.ts'
import type { WireSettings } from './wire-settings.ts'

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

/** Creates what serves streaming calls: health and reflection. They have no deadline but the client's. */
export function createServeGrpcStream(settings: Omit<WireSettings, 'deadlines'>): ServeGrpcStream {
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
      const timeoutMs = grpcTimeout(headers['grpc-timeout'] as string | undefined)
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
