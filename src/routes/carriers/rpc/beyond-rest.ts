import { ApiError } from '../../../errors.ts'
import type { RestRequest } from '../../../rpc/messages/request-of.ts'
import type { Core } from '../../../serve/core.ts'
import type { AnswerDecision } from '../../../serve/serve.ts'
import type { Service } from '../../../serve/upstream/health.ts'
import type { WireReply } from '../../../wire/wire-call.ts'
import { type RespondParts, type RestCall, respondOnce } from './respond-once.ts'
import type { RpcCall } from './rpc-call.ts'

export interface OverGrpcParts extends RespondParts {
  /** Makes its calls to v2 as gRPC; undefined if v2 speaks REST alone. */
  readonly overGrpc: Core | undefined
}

/** Returns the request with all that its message says. No gateway reads a list of messages from a query, but the tables map it. */
export function wholeRequest(rest: RestRequest): RestRequest {
  const { url, unsaidText } = rest
  return unsaidText === '' ? rest : { ...rest, url: `${url}${url.includes('?') ? '&' : '?'}${unsaidText}` }
}

/**
 * Answers a call that REST cannot carry from v2's gRPC, by the same tables. Neither side can be asked over REST for comparison or fallback.
 */
export function respondOverGrpc(parts: OverGrpcParts, decision: AnswerDecision, asked: RestCall & RpcCall): Promise<WireReply> {
  const { overGrpc } = parts
  if (!overGrpc) throw needsGrpc('INVALID_ARGUMENT', asked, 'v2')
  asked.record.mode = 'v2'
  const byV2 = { ...decision, choice: { ...decision.choice, mode: 'v2' as const } }
  return respondOnce({ ...parts, published: overGrpc, compared: overGrpc }, byV2, asked)
}

/** The error of such a call if the service is asked over REST. */
export function needsGrpc(code: 'INVALID_ARGUMENT' | 'UNIMPLEMENTED', { rest, method }: RestCall & RpcCall, service: Service): ApiError {
  const fields = rest.unsaid.join(', ')
  return new ApiError(code, `REST cannot carry ${fields} of ${method.name}; set upstream.${service}Grpc to relay if ${service} speaks gRPC`)
}
