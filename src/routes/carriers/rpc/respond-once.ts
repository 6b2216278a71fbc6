import { type MessageLimits, messageOf } from '../../../rpc/messages/message-of.ts'
import type { RestRequest } from '../../../rpc/messages/request-of.ts'
import { statusOfAnswer } from '../../../rpc/messages/status-of.ts'
import type { Rpc } from '../../../rpc/open-rpc.ts'
import type { Answer } from '../../../serve/answer.ts'
import type { Core } from '../../../serve/core.ts'
import { createRequest, type RequestHead } from '../../../serve/request.ts'
import { type AnswerDecision, respond } from '../../../serve/serve.ts'
import { COMPARING } from '../../../serve/sides.ts'
import type { Signal } from '../../../serve/signals.ts'
import { ROWS_MEMORY } from '../../../tables/text/engine.ts'
import type { WireReply } from '../../../wire/wire-call.ts'
import { toldToClient } from './reply-status.ts'
import type { RpcCall } from './rpc-call.ts'

export interface RespondParts {
  /** Answers in the published dialect: its members are those of the messages. */
  readonly published: Core
  /** Answers in the dialect of the settings, in which both sides are compared. */
  readonly compared: Core
  readonly limits: MessageLimits
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
  if (isOwn && 'written' in answer && typeof answer.written !== 'string') for (const piece of answer.written) ROWS_MEMORY.give(piece)
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
