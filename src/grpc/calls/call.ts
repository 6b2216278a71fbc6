import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, CODES, type CodeName, codeName, RETRY_INFO, retryInfo } from '../../errors.ts'
import type { Answer } from '../../serve/answer.ts'
import type { Holding } from '../../serve/bounds.ts'
import { createClassify, pathOf } from '../../serve/classify.ts'
import type { Core, RequestRecord } from '../../serve/core.ts'
import { createRequest, type RequestHead } from '../../serve/request.ts'
import { createRouter } from '../../serve/route.ts'
import { type AnswerDecision, respond } from '../../serve/serve.ts'
import { COMPARING, isRead } from '../../serve/sides.ts'
import type { Signal } from '../../serve/signals.ts'
import type { Operation } from '../../tables/operation.ts'
import { ROWS_MEMORY } from '../../tables/text/engine.ts'
import { messageOf } from '../messages/message-of.ts'
import type { RecodeLimits } from '../messages/recode.ts'
import { noRequest, type RestRequest } from '../messages/request-of.ts'
import { statusOfAnswer } from '../messages/status-of.ts'
import type { Rpc, RpcMethod } from '../proto-files.ts'
import type { WireCall, WireReply, WireStatus } from '../wire/call.ts'

/** One call of a method that is known. */
export interface RpcCall {
  readonly method: RpcMethod
  readonly call: WireCall
  readonly record: RequestRecord
  /** What a long answer holds of the memory of all, until the client has taken it. Writes have none: they may be done. */
  readonly holding?: Holding | undefined
}

/** Keeps the calls that wait for their answers. */
export function createUnderWay() {
  const waiting = new Set<() => void>()
  return {
    /** Returns the answer, or what `instead` makes if the process stops before it. */
    wait: (answer: Promise<WireReply>, instead: () => WireReply): Promise<WireReply> =>
      new Promise((resolve, reject) => {
        const stop = () => resolve(instead())
        waiting.add(stop)
        answer.then(
          (reply) => {
            waiting.delete(stop)
            resolve(reply)
          },
          (thrown) => {
            waiting.delete(stop)
            reject(thrown)
          },
        )
      }),
    /** Answers all of them: a client of gRPC repeats a call, even a write, whose connection ends without an answer. */
    stop(): void {
      for (const stop of waiting) stop()
    },
  }
}

/**
 * Returns what refuses a REST request that leads to another method than its call: an empty name, one with `..` in it, or with the word of
 * another method. It compiles the routes of v2; its methods and those of v2beta1 have the same.
 */
export function createRefuseMisplaced({ methods }: Rpc) {
  const rules = methods.flatMap(({ version, rule }) => (version === 'v2' && rule ? [rule] : []))
  const { match } = createRouter(rules.map(routable))
  const classify = createClassify([], true)
  return ({ method, url }: RestRequest, { rule }: RpcMethod): void => {
    const target = classify(url)
    if (target.kind === 'refused') throw target.error
    const found = match(method, decodeURIComponent(pathOf(url)))
    const isOwn = rule && typeof found === 'object' && found.operation.id === routable(rule).id
    if (!isOwn) throw misplaced()
  }
}

/** The error for a message whose REST request leads to another route: with an empty name, or one with the word of another method in it. */
export function misplaced(): ApiError {
  return noRequest(new ApiError('INVALID_ARGUMENT', 'the message does not name the resource that the method is about'))
}

/** A variable of one segment is written `{name}`. */
function routable({ method, template }: NonNullable<RpcMethod['rule']>) {
  return { id: `${method} ${template}`, method, template: template.replaceAll('=*}', '}') }
}

/** Headers of the protocols of gRPC. The REST request of a call has its own body, and its answer is read here. */
const OF_THE_CALL = /^(?::|grpc-|connect-|content-|(?:x-grpc-web|transfer-encoding|te|accept|accept-encoding|connection|trailer)$)/

/** Returns the head of the REST request that a call becomes. The metadata of the client are its headers. */
export function restHead(
  { method, url, body }: { readonly method: string; readonly url: string; readonly body: Buffer | undefined },
  headers: IncomingHttpHeaders,
): RequestHead {
  const kept: IncomingHttpHeaders = {}
  for (const name in headers) if (!OF_THE_CALL.test(name)) kept[name] = headers[name]
  if (body) kept['content-type'] = 'application/json'
  return { method, url, headers: kept }
}

/** The code of a reply. */
export function codeOf(reply: WireReply): CodeName {
  return 'status' in reply ? codeName(reply.status.code) : 'OK'
}

/** The codes after which clients of gRPC repeat a call, even one that creates something. */
const REPEATED: ReadonlySet<number> = new Set([CODES.UNAVAILABLE.number, CODES.RESOURCE_EXHAUSTED.number])

/** What a status follows from, besides the error. */
interface Circumstances {
  readonly operation: Operation | undefined
  readonly record: Pick<RequestRecord, 'written'>
  /** Headers of the error: `retry-after`. */
  readonly headers: Readonly<Record<string, unknown>>
}

/**
 * Returns the status for a client, with the time after which it may repeat the call. A call whose write may have been done must not be
 * repeated, so that it is UNKNOWN in place of UNAVAILABLE.
 */
export function toldToClient(status: WireStatus, { operation, record, headers }: Circumstances): WireStatus {
  if (!REPEATED.has(status.code)) return status
  if (operation && !isRead(operation) && record.written) {
    const details = status.details.filter(({ type }) => type !== RETRY_INFO)
    return { code: CODES.UNKNOWN.number, message: `${status.message}; this call, or a part of it, may have been done`, details }
  }
  return { ...status, details: [...status.details, ...retryInfo(headers['retry-after'])] }
}

/** Returns the error of a write that was sent as one call: what broke off, or had too long an answer, may have been done. */
export function notToBeRepeated(error: ApiError): ApiError {
  if (error.unsent || !REPEATED.has(CODES[error.code].number)) return error
  return new ApiError('UNKNOWN', `${error.message}; this call may have been done`, { cause: error.cause })
}

/** Limits of one call, named as in the configuration. `headerBytes` bounds what goes into a path. */
export type CallLimits = RecodeLimits & { readonly headerBytes: number }

export interface RespondParts {
  /** Answers in the published dialect: its members are those of the messages. */
  readonly published: Core
  /** Answers in the dialect of the settings, in which both sides are compared. */
  readonly compared: Core
  readonly limits: CallLimits
  readonly registry: Rpc['registry']
}

/** The REST request that a call became. */
export interface RestCall {
  readonly rest: RestRequest
  readonly head: RequestHead
}

/** Answers a call as its REST request is answered. Rejects with an ApiError if there is no answer, or none that is a message. */
export async function respondOnce(parts: RespondParts, decision: AnswerDecision, asked: RestCall & RpcCall): Promise<WireReply> {
  const { method, call, record } = asked
  const { answer, isOwn } = await answerOf(parts, decision, asked)
  if (answer.status >= 400) {
    const status = await statusOfAnswer(answer, { registry: parts.registry, version: 'v1' })
    return { status: toldToClient(status, { operation: method.operation, record, headers: answer.headers }) }
  }
  const { messageBytes } = parts.limits
  const message = await messageOf(method, answer, call.codec, { messageBytes, holding: asked.holding })
  // The message holds none of the rows' bytes.
  if (isOwn && 'text' in answer && typeof answer.text !== 'string') for (const piece of answer.text) ROWS_MEMORY.give(piece)
  return { message }
}

/** Returns what fires when nobody waits for the answer. An answer of v1 may exceed the deadline of the request, as over REST. */
export function clientOf({ hasV1 }: Pick<Core, 'hasV1'>, { signal }: RpcCall['call']): Signal {
  return hasV1 ? signal.client() : signal
}

function answerOf(
  { published, compared }: RespondParts,
  decision: AnswerDecision,
  { rest, head, call, record }: RestCall & RpcCall,
): Promise<{ readonly answer: Answer; readonly isOwn: boolean }> {
  const { routed, choice } = decision
  const { caller, subject, credential, mode } = choice
  const { method, url, body } = rest
  const { operation, raw, read } = createRequest(routed, { id: record.id, method, url, headers: head.headers, body })
  const request = { operation, raw, read, caller, subject, credential, client: clientOf(published, call), signal: call.signal }
  const isCompared = COMPARING.has(mode)
  const serving = { decision: isCompared ? { ...decision, known: compared.reads.find(head) } : decision, request, record }
  return new Promise((landed, failed) => {
    respond(isCompared ? compared : published, serving, { write: (answer, _, isOwn) => landed({ answer, isOwn }), failed })
  })
}
