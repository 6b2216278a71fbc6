import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../errors.ts'
import type { Signal } from '../../serve/signals.ts'
import { boundsOf, type WireSettings } from '../wire-settings.ts'
import { PREFIX, unframe } from './frame.ts'
import { type Inflated, inflated, malformedGzip } from './gzip.ts'
import { readBody, type WireRequest } from './read-body.ts'

/** A request with a message in a frame. */
interface FramedRequest extends WireRequest {
  /** True if base64 is around the frame. */
  readonly isText?: boolean
}

/** Reads the one message of a unary request of gRPC or gRPC-Web. Rejects with an ApiError that has the code of gRPC for what is wrong. */
export async function readFramed(request: FramedRequest, signal: Signal, settings: WireSettings): Promise<Inflated> {
  const { requestBytes } = settings
  const coding = codingOf(request.headers)
  const body = request.isText
    ? decoded(await readBody(request, textLength(requestBytes + PREFIX) - requestBytes, signal, settings))
    : await readBody(request, PREFIX, signal, settings)
  const { isCompressed, message } = unframe(body, requestBytes)
  if (!isCompressed) return { message, release: nothing }
  if (coding !== 'gzip') throw new ApiError('INTERNAL', 'a message is marked as compressed, and grpc-encoding names no compression')
  return inflated(message, boundsOf(settings), malformedGzip)
}

const nothing = () => {}

/** Returns the length of bytes as base64. */
function textLength(bytes: number): number {
  return Math.ceil(bytes / 3) * 4
}

function decoded(body: Buffer): Buffer {
  const text = body.toString('latin1')
  if (!/^[\w+/]*={0,2}$/.test(text)) throw new ApiError('INTERNAL', 'the request is not base64')
  return Buffer.from(text, 'base64')
}

/** Reads `grpc-encoding`. An unknown one is UNIMPLEMENTED, even when nothing is compressed. */
export function codingOf(headers: IncomingHttpHeaders): 'gzip' | 'identity' {
  const coding = headers['grpc-encoding'] ?? 'identity'
  if (coding !== 'gzip' && coding !== 'identity') throw new ApiError('UNIMPLEMENTED', 'grpc-encoding is none of gzip and identity')
  return coding
}
