import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { guarded } from '../relay/guard.ts'
import { CallSignal } from './call-signal.ts'
import { carry } from './carry.ts'
import { framed } from './framing/frame.ts'
import { gzipped } from './framing/gzip.ts'
import { readFramed } from './framing/read-framed.ts'
import { sendPieces } from './framing/send-pieces.ts'
import { closedCode } from './status/closed-code.ts'
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

/** The content types of gRPC, with the codec of their messages. */
const TYPE = /^application\/grpc(?:\+(proto|json))? *(?:;|$)/i

/** Creates what serves unary calls of gRPC on bare HTTP/2 streams. */
export function createServeGrpc(settings: WireSettings): ServeGrpc {
  return (stream, headers, handler, ended = () => {}) => {
    const write = createWrite(stream, headers, ended)
    const [isGrpc, codec = 'proto'] = TYPE.exec(headers['content-type'] ?? '') ?? []
    if (!isGrpc) return refuseType(stream)
    try {
      const timeoutMs = grpcTimeout(headers['grpc-timeout'] as string | undefined)
      const signal = new CallSignal(stream, settings.deadlines, timeoutMs)
      const path = headers[':path'] ?? ''
      const call = { path, protocol: 'grpc', codec: codec.toLowerCase() as 'proto' | 'json', headers, timeoutMs, isGet: false } as const
      const read = () => readFramed({ body: stream, ending: stream, headers }, signal, settings)
      carry({ call, signal, read, write }, handler, settings.failed).catch(settings.failed)
    } catch (thrown) {
      void write({ status: failureStatus(thrown) })
    }
  }
}

/** Has no effect once the client is gone. The client may still be sending: what comes is discarded. */
function createWrite(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ended: (code: number) => void) {
  let last: OutgoingHttpHeaders = {}
  const type = headers['content-type'] ?? ''
  const isGone = () => stream.closed || stream.destroyed
  const respond = (head: OutgoingHttpHeaders, options: { readonly endStream?: true; readonly waitForTrailers?: true }) =>
    stream.respond({ ':status': 200, 'content-type': type, ...head }, { ...options, ...WITHOUT_DATE })
  stream.on('error', () => {})
  stream.on(
    'wantTrailers',
    guarded(
      () => stream.sendTrailers(last),
      () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    ),
  )
  stream.once('close', () => ended(closedCode(stream.rstCode ?? 0, last['grpc-status'])))

  const answer = (reply: WireReply, pieces: readonly Uint8Array[], isCompressed: boolean) => {
    if (isGone()) return
    if (stream.headersSent) return stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    stream.resume()
    const own = reply.headers ? metadata(reply.headers) : {}
    last = grpcTrailers(reply)
    if ('status' in reply && Object.keys(own).length === 0) return respond({ ...ACCEPTED, ...last }, { endStream: true })
    respond({ ...own, ...(isCompressed && COMPRESSED) }, { waitForTrailers: true })
    'status' in reply ? stream.end() : sendPieces(stream, framed(pieces, isCompressed))
  }
  return (reply: WireReply): void | Promise<void> => {
    if ('status' in reply || headers['grpc-encoding'] !== 'gzip') return answer(reply, 'message' in reply ? reply.message : [], false)
    return gzipped(reply.message).then((zipped) => answer(reply, zipped ?? reply.message, zipped !== undefined))
  }
}

const WITHOUT_DATE = { sendDate: false }
const COMPRESSED = { 'grpc-encoding': 'gzip' }
const ACCEPTED = { 'grpc-accept-encoding': 'identity,gzip' }

/** An unknown codec is an unsupported type of HTTP (gRPC over HTTP/2, Requests). */
function refuseType(stream: ServerHttp2Stream): void {
  stream.resume()
  stream.respond({ ':status': 415, 'accept-post': 'application/grpc, application/grpc+proto, application/grpc+json' }, { endStream: true })
}
