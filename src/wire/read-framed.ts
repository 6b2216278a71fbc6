import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { ApiError } from '../errors/api-error.ts'
import type { Signal } from '../limits/signal.ts'
import { gather } from '../listen/gather.ts'
import type { Closing } from '../listen/on-close.ts'
import { PREFIX, tooLarge, unframe } from './frame.ts'
import { type Inflated, inflated, malformedGzip } from './gzip.ts'
import { boundsOf, type WireSettings } from './wire-settings.ts'

/** A framed request, whose answer or stream is `ending`. */
export interface FramedRequest {
  readonly body: IncomingMessage | ServerHttp2Stream
  readonly ending: Closing
  readonly headers: IncomingHttpHeaders
}

/** Reads the one message of a unary request of gRPC or gRPC-Web. Rejects with an ApiError that has the code of gRPC for what is wrong. */
export async function readFramed({ body, ending, headers }: FramedRequest, signal: Signal, settings: WireSettings): Promise<Inflated> {
  const coding = codingOf(headers)
  const bounds = boundsOf(settings)
  const { requestBytes, room, noRoom } = bounds
  const bytes = await gather(body, ending, { most: requestBytes + PREFIX, room, tooLarge: () => tooLarge(requestBytes), noRoom }, signal)
  const { isCompressed, message } = unframe(bytes, requestBytes)
  if (!isCompressed) return { message, release() {} }
  if (coding !== 'gzip') throw new ApiError('INTERNAL', 'a message is marked as compressed, and grpc-encoding names no compression')
  return inflated(message, bounds, malformedGzip)
}

/** Reads `grpc-encoding`. An unknown one is UNIMPLEMENTED, even when nothing is compressed. */
export function codingOf(headers: IncomingHttpHeaders): 'gzip' | 'identity' {
  const coding = headers['grpc-encoding'] ?? 'identity'
  if (coding !== 'gzip' && coding !== 'identity') throw new ApiError('UNIMPLEMENTED', 'grpc-encoding is none of gzip and identity')
  return coding
}
