import { constants } from 'node:http2'
import { CODES } from '../../errors/codes.ts'

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/** Returns the status that the client of a closed stream sees: the one that was sent, or gRPC's meaning of a reset. */
export function closedCode(reset: number, status: unknown): number {
  if (reset === NGHTTP2_CANCEL) return CODES.CANCELLED.number
  if (reset === NGHTTP2_REFUSED_STREAM) return CODES.UNAVAILABLE.number
  if (reset !== NGHTTP2_NO_ERROR) return CODES.INTERNAL.number
  return status === undefined ? CODES.UNKNOWN.number : Number(status)
}
