import type { WireReply, WireStatus } from '../wire-call.ts'
import { metadata } from '../wire-metadata.ts'
import { grpcMessage } from './grpc-message.ts'
import { shortMessage } from './short-message.ts'
import { statusBytes, unpadded } from './status-bytes.ts'

/** The names and values that follow an answer of gRPC or gRPC-Web. */
export type Trailers = Record<string, string | string[]>

/** Returns the trailers of a reply: its own metadata, and its status. */
export function grpcTrailers(reply: WireReply): Trailers {
  const own = reply.trailers && metadata(reply.trailers)
  return { ...own, ...('status' in reply ? statusTrailers(reply.status) : OK) }
}

const OK = { 'grpc-status': '0' }

function statusTrailers({ code, message, details }: WireStatus): Trailers {
  const short = shortMessage(message)
  return {
    'grpc-status': String(code),
    ...(short !== '' && { 'grpc-message': grpcMessage(short) }),
    ...(details.length > 0 && { 'grpc-status-details-bin': unpadded(statusBytes({ code, message: short, details })) }),
  }
}
