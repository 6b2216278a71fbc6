import { constants, type ServerHttp2Stream } from 'node:http2'
import { CODES } from '../../errors.ts'

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
