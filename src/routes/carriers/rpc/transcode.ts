import { ApiError, CODES, fromTransport } from '../../../errors.ts'
import { type MessageLimits, messageOf } from '../../../rpc/messages/message-of.ts'
import { requestOf } from '../../../rpc/messages/request-of.ts'
import { statusOfAnswer } from '../../../rpc/messages/status-of.ts'
import type { Rpc, RpcMethod } from '../../../rpc/open-rpc.ts'
import type { AskRest } from '../../../serve/upstream/v1.ts'
import type { WireReply, WireStatus } from '../../../wire/wire-call.ts'
import { createRefuseMisplaced } from './misplaced.ts'
import { notToBeRepeated } from './reply-status.ts'
import { restHead } from './rest-head.ts'
import type { RpcCall } from './rpc-call.ts'

export interface TranscodeParts {
  readonly ask: AskRest
  readonly rpc: Rpc
  readonly limits: MessageLimits
}

/** Answers one call of v2 or v2beta1. Rejects with an ApiError if v2 does not answer. */
export type Transcode = (call: RpcCall) => Promise<WireReply>

/**
 * Serves gRPC calls from a v2 that speaks REST alone: a message becomes the REST request that its http rule says, and the answer becomes a
 * message. No table takes part, so that the client gets exactly what v2 says.
 */
export function createTranscode({ ask, rpc, limits }: TranscodeParts): Transcode {
  const refuseMisplaced = createRefuseMisplaced(rpc)
  return async ({ method, call, record, holding }) => {
    const request = requestOf(method, call.message, call.codec)
    if (request.unsaid.length > 0) throw unsayable(method, request.unsaid)
    refuseMisplaced(request, method)
    const isWrite = request.method !== 'GET'
    record.asked = true
    try {
      const answer = await ask({ ...request, id: record.id, headers: restHead(request, call.headers).headers }, call.signal)
      const headers = { 'x-request-id': record.id }
      if (answer.status < 400) return { message: await messageOf(method, answer, call.codec, { ...limits, holding }), headers }
      const status = await statusOfAnswer(answer, { registry: rpc.registry, version: method.version })
      return { status: isWrite && status.code === UNAVAILABLE ? { ...status, ...mayBeDone(status) } : status, headers }
    } catch (thrown) {
      const error = fromTransport(thrown)
      throw isWrite ? notToBeRepeated(error) : error
    }
  }
}

const UNAVAILABLE = CODES.UNAVAILABLE.number

/** A gateway may answer 503 after it has passed a write on. Clients of gRPC repeat what is UNAVAILABLE, so such a write is UNKNOWN. */
function mayBeDone({ message }: { readonly message: string }): Pick<WireStatus, 'code' | 'message'> {
  return { code: CODES.UNKNOWN.number, message: `${message}; this call may have been done` }
}

function unsayable({ path }: RpcMethod, fields: readonly string[]): ApiError {
  const [service = ''] = path.split('/').slice(-1)
  return new ApiError('UNIMPLEMENTED', `REST cannot carry ${fields.join(', ')} of ${service}, so that only gRPC serves this call`)
}
