import type { WireReply, WireStatus } from '../wire-call.ts'
import { metadata } from '../wire-metadata.ts'
import { grpcMessage } from './grpc-message.ts'
import { statusBytes, unpadded } from './status-bytes.ts'

/** The names and values that follow an answer of gRPC or gRPC-Web. */
export type Trailers = Record<string, string | string[]>

/** Returns the trailers of a reply: its own metadata, and its status. */
export function grpcTrailers(reply: WireReply): Trailers {
  const own = reply.trailers ? metadata(reply.trailers) : {}
  return 'status' in reply ? { ...own, ...statusTrailers(reply.status) } : { ...own, 'grpc-status': '0' }
}

function statusTrailers(status: WireStatus): Trailers {
  return {
    'grpc-status': String(status.code),
    ...(status.message !== '' && { 'grpc-message': grpcMessage(status.message) }),
    ...(status.details.length > 0 && { 'grpc-status-details-bin': unpadded(statusBytes(status)) }),
  }
}
