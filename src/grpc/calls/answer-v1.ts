import { ApiError, asApiError, CODES } from '../../errors.ts'
import type { Classify } from '../../serve/classify.ts'
import type { Core } from '../../serve/core.ts'
import { unserved } from '../../serve/http/v1-surface.ts'
import { createRequest } from '../../serve/request.ts'
import { type Found, isFound } from '../../serve/route.ts'
import { type AnswerDecision, choose, count, type Decision } from '../../serve/serve.ts'
import { SERVED_BY } from '../../serve/sides.ts'
import type { Service } from '../../serve/upstream/health.ts'
import type { Operation } from '../../tables/operation.ts'
import { needsV1 } from '../../tables/query.ts'
import { isNoRequest, type RestRequest, requestOf } from '../messages/request-of.ts'
import { statusOfError } from '../messages/status-of.ts'
import type { WireReply } from '../wire/call.ts'
import { clientOf, codeOf, misplaced, type RespondParts, type RestCall, type RpcCall, respondOnce, restHead, toldToClient } from './call.ts'
import { relayUnary, type UnaryService } from './destinations.ts'

interface AnswerV1Parts extends RespondParts {
  /** Makes its calls to v2 as gRPC; undefined if v2 speaks REST alone. */
  readonly overGrpc: Core | undefined
  readonly classify: Classify
  /** How v1 gets the calls that it answers. Undefined when no v1 upstream is configured. */
  readonly v1: UnaryService | 'rest' | undefined
}

/** Returns the request with all that its message says. No gateway reads a list of messages from a query, but the tables map it. */
function wholeRequest(rest: RestRequest): RestRequest {
  const { url, unsaidText } = rest
  return unsaidText === '' ? rest : { ...rest, url: `${url}${url.includes('?') ? '&' : '?'}${unsaidText}` }
}

/**
 * Answers a call that REST cannot carry from v2's gRPC, by the same tables. Neither side can be asked over REST for comparison or fallback.
 */
function respondOverGrpc(parts: AnswerV1Parts, decision: AnswerDecision, asked: RestCall & RpcCall): Promise<WireReply> {
  const { overGrpc } = parts
  if (!overGrpc) throw needsGrpc('INVALID_ARGUMENT', asked, 'v2')
  asked.record.mode = 'v2'
  const byV2 = { ...decision, choice: { ...decision.choice, mode: 'v2' as const } }
  return respondOnce({ ...parts, published: overGrpc, compared: overGrpc }, byV2, asked)
}

/** The error of such a call if the service is asked over REST. */
function needsGrpc(code: 'INVALID_ARGUMENT' | 'UNIMPLEMENTED', { rest, method }: RestCall & RpcCall, service: Service): ApiError {
  const unsaid = method.streams ? 'the messages' : rest.unsaid.join(', ')
  return new ApiError(code, `REST cannot carry ${unsaid} of ${method.name}; set upstream.${service}Grpc to relay if ${service} speaks gRPC`)
}

/**
 * Returns what answers one call of a v1 method as the REST request that it says. Modes, records and replays therefore treat both alike. It
 * never rejects: every error is a status.
 */
export function createAnswerV1(parts: AnswerV1Parts) {
  return (asked: RpcCall): Promise<WireReply> => {
    const { operation } = asked.method
    return operation ? served(parts, operation, asked) : unnamed(parts, asked).catch((thrown) => refused(parts, thrown, asked))
  }
}

function refused({ registry }: AnswerV1Parts, thrown: unknown, { method, record }: RpcCall): WireReply {
  const error = asApiError(thrown)
  record.error = error
  const status = statusOfError(error, { registry, version: 'v1' })
  return { status: toldToClient(status, { operation: method.operation, record, headers: error.headers }) }
}

async function served(parts: AnswerV1Parts, operation: Operation, asked: RpcCall): Promise<WireReply> {
  const { method, call, record, holding } = asked
  let begun: BegunRequest | undefined
  let reply: WireReply
  try {
    begun = begin(parts, operation, asked)
    const { rest, head, decision } = begun
    reply = await decided(parts, begun.routed, decision, { method, call, record, holding, rest, head })
  } catch (thrown) {
    reply = begun ? refused(parts, thrown, asked) : await withoutRequest(parts, operation, thrown, asked)
  }
  if (!begun) return reply
  const { decision, head, rest } = begun
  const status = clientOf(parts.published, call).aborted ? undefined : CODES[codeOf(reply)].http
  count(parts.published, decision, { head, record, status, isUncarried: rest.unsaid.length > 0 })
  return reply
}

/**
 * Answers a call that no request of REST says; `problem` is why. v1 gets it as it came if v1 is asked over gRPC and the call is its own: only
 * v1 has the method, the mode gives it to v1, or it is a read, of which v2 cannot be asked. Its success will be missed when v1 is gone.
 */
async function withoutRequest(parts: AnswerV1Parts, operation: Operation, problem: unknown, asked: RpcCall): Promise<WireReply> {
  const { v1, published } = parts
  const { method, call, record } = asked
  const { id, kind, because = '' } = operation
  const isOnlyInV1 = kind === 'v1-only'
  const isOfV1 = () => method.isSafe || SERVED_BY[published.modes.choose(operation, method.path, call.headers).mode] === 'v1'
  try {
    if (!v1 && isOnlyInV1) throw new ApiError('UNIMPLEMENTED', `${id} ${needsV1(because)}`)
    if (!v1 || v1 === 'rest' || !(isOnlyInV1 || (isNoRequest(problem) && isOfV1()))) throw problem
    record.mode = 'v1'
    const reply = await relayUnary(v1, asked)
    if (codeOf(reply) === 'OK') published.modes.usedUnknown('POST', method.path, call.headers)
    return reply
  } catch (thrown) {
    return refused(parts, thrown, asked)
  }
}

/** The REST request that a call is, and what was decided about it. */
interface BegunRequest extends RestCall {
  readonly routed: Found
  readonly decision: Decision
}

/** Throws the ApiError of a call that is no request, or one of another operation. */
function begin({ classify, published, limits }: AnswerV1Parts, operation: Operation, { method, call, record }: RpcCall): BegunRequest {
  const rest = wholeRequest(requestOf(method, call.message, call.codec, { pathBytes: limits.headerBytes, protocol: call.protocol }))
  const head = restHead(rest, call.headers)
  const path = pathIn(classify, rest.url)
  const decision = choose(published, head, path, record, published.reads.find(head))
  const { routed, written } = decision
  if (isFound(routed) && routed.match.operation === operation) return { rest, head, routed, decision }
  written?.()
  record.operation = operation.id
  throw misplaced()
}

/** Throws the ApiError that refuses the call, or rejects with it. */
function decided(parts: AnswerV1Parts, routed: Found, decision: Decision, asked: RestCall & RpcCall): Promise<WireReply> {
  const { v1 } = parts
  const isCarried = asked.rest.unsaid.length === 0
  if (decision.kind === 'answer') {
    if (isCarried) return respondOnce(parts, decision, asked)
    if (SERVED_BY[decision.choice.mode] === 'v2') return respondOverGrpc(parts, decision, asked)
  }
  if (!v1) throw unserved(routed)
  if (v1 !== 'rest') {
    asked.record.read = createRequest(routed, { id: asked.record.id, ...asked.rest, headers: asked.head.headers }).read
    return relayUnary(v1, asked)
  }
  // A gateway writes a stream as lines of JSON, none of which is the message.
  if (!isCarried || asked.method.streams) throw needsGrpc('UNIMPLEMENTED', asked, 'v1')
  const byV1: AnswerDecision = { ...decision, kind: 'answer', routed, known: undefined }
  return respondOnce(parts, byV1, asked)
}

/** A method that no REST operation of v1 names. */
async function unnamed({ v1, published: { modes } }: AnswerV1Parts, asked: RpcCall): Promise<WireReply> {
  const { method, call, record } = asked
  if (!v1 || v1 === 'rest') throw new ApiError('UNIMPLEMENTED', `${method.path} ${needsV1('only gRPC carries it')}`)
  record.mode = 'v1'
  const reply = await relayUnary(v1, asked)
  if (codeOf(reply) === 'OK') modes.usedUnknown('POST', method.path, call.headers)
  return reply
}

/** Returns the decoded path of a request. */
function pathIn(classify: Classify, url: RestRequest['url']): string {
  const target = classify(url)
  if (target.kind === 'v1') return target.path
  throw target.kind === 'refused' ? target.error : misplaced()
}
