import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { CallSignal } from './call-signal.ts'
import { carry } from './carry.ts'
import { framed } from './framing/frame.ts'
import { gzipped } from './framing/gzip.ts'
import { readFramed } from './framing/read-framed.ts'
import { sendPieces } from './framing/send-pieces.ts'
import { GrpcHead, grpcCodec } from './grpc-head.ts'
import { grpcTrailers } from './status/grpc-trailers.ts'
import { failureStatus } from './status/wire-failure.ts'
import { grpcTimeout } from './timeout.ts'
import type { WireHandler, WireReply } from './wire-call.ts'
import { metadata } from './wire-metadata.ts'
import type { WireSettings } from './wire-settings.ts'

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
      sendPieces(stream, framed(zipped ?? reply.message, zipped !== undefined))
    } else if (Object.keys(own).length > 0) {
      head.begin(own, trailers)
      stream.end()
    } else head.whole(trailers)
  }
  return (reply: WireReply): void | Promise<void> => {
    if ('status' in reply || !isCompressed) return answer(reply)
    return gzipped(reply.message).then((zipped) => answer(reply, zipped))
  }
}
