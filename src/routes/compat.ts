import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import { whenClosed } from '../listen/on-close.ts'
import type { Side } from '../modes/choose/mode.ts'
import { type BodyLimits, createReadBytes } from '../request/body.ts'
import { type ClientRequest, createRequest, takesBody } from '../request/request.ts'
import { type AnswerDecision, choose, count, type Decision } from '../serve/choose.ts'
import type { Core } from '../serve/core.ts'
import type { RequestRecord } from '../serve/request-record.ts'
import { respond, type Writer } from '../serve/respond.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Answer } from '../translate/answer.ts'
import type { RawHeaders } from './announce.ts'
import type { Legacy } from './carriers/legacy.ts'
import type { Forwarded } from './forwarded/forwarded.ts'
import { clientSignal, createRequestSignals } from './lifetime/client-signal.ts'
import { unserved } from './refusal.ts'
import { sendAnswer, sendError, watched } from './send-answer.ts'
import type { Metrics } from './watch/metrics.ts'

/** Serves one v1 request over HTTP; `path` is decoded. */
export type Compat = (request: FastifyRequest, reply: FastifyReply, path: string, exchange: RequestRecord) => FastifyReply | undefined

export interface CompatParts {
  readonly core: Core
  /** Undefined when no v1 upstream is configured. */
  readonly legacy: Legacy | undefined
  readonly forwarded: Forwarded
  readonly announced: RawHeaders
  readonly metrics: Metrics
  /** Undefined when traces are not sent. */
  readonly tracing: Tracing | undefined
  readonly limits: BodyLimits & { readonly deadlineMs: number }
}

/** Creates the v1 surface over HTTP. It decides about a request, then passes it on or answers it. */
export function createCompat(parts: CompatParts): Compat {
  const { core, legacy, forwarded, announced, metrics, tracing, limits } = parts
  const requestSignal = createRequestSignals(limits.deadlineMs)
  const readBytes = createReadBytes(limits, () => metrics.refused('bodies'))

  const passOn = (request: FastifyRequest, { reply, exchange }: Http, { routed }: Decision) => {
    if (!legacy) throw unserved(routed)
    const passed = legacy(request, reply, exchange)
    exchange.asked = true
    return passed
  }
  const answer = (http: Http, decision: AnswerDecision) => {
    const { reply, exchange } = http
    const signal = requestSignal(reply.raw)
    const go = (body: Buffer | undefined) => {
      const client = legacy ? clientSignal(reply.raw) : signal
      const request = requestOf(http, decision, body, { client, signal })
      respond(core, { decision, request, exchange }, writerOf(http, request, announced))
    }
    if (takesBody(decision.routed))
      readBytes(reply.raw, signal)
        .then(go)
        .catch((thrown) => refuse(http, thrown))
    else go(undefined)
    return undefined
  }
  return (request, reply, path, exchange) => {
    exchange.span = tracing?.begin(request.raw.headers)
    if (legacy) forwarded.rewrite(request.raw)
    const http = { reply, exchange }
    try {
      const decision = choose(core, request.raw, path, exchange)
      countWhenOver(core, decision, path, http)
      return decision.kind === 'answer' ? answer(http, decision) : passOn(request, http, decision)
    } catch (thrown) {
      return refuse(http, thrown)
    }
  }
}

/** The HTTP side of one request. */
interface Http {
  readonly reply: FastifyReply
  readonly exchange: RequestRecord
}

function requestOf(
  { reply, exchange }: Http,
  { routed, choice }: AnswerDecision,
  body: Buffer | undefined,
  { client, signal }: Pick<ClientRequest, 'client' | 'signal'>,
): ClientRequest {
  const { method = '', url = '', headers } = reply.request.raw
  const { operation, raw, read } = createRequest(routed, { id: exchange.id, method, url, headers, body })
  const { caller, subject, credential } = choice
  return { operation, raw, read, caller, subject, credential, client, signal }
}

function refuse({ reply, exchange }: Http, thrown: unknown): FastifyReply {
  exchange.error = asApiError(thrown)
  return sendError(reply, exchange.error)
}

function countWhenOver(core: Core, decision: Decision, path: string, { reply, exchange }: Http): void {
  const response: ServerResponse = reply.raw
  const over = () => {
    const status = response.headersSent ? response.statusCode : undefined
    count(core, decision, { head: reply.request.raw, path, exchange, status })
  }
  whenClosed(response, { over, next: undefined })
}

/** A v1 answer may exceed the request's deadline. Only its client ends it. */
function writerOf(http: Http, { client, signal }: ClientRequest, announced: RawHeaders): Writer {
  const { reply, exchange } = http
  const failed = (thrown: unknown) => void refuse(http, thrown)
  const brokeOff = (error: ApiError) => {
    exchange.error = error
  }
  const write = (answer: Answer, by: Side) => {
    const until = by === 'v1' ? client : signal
    try {
      sendAnswer(reply, { id: exchange.id, announced }, watched(answer, until, brokeOff), until)
    } catch (thrown) {
      failed(thrown)
    }
  }
  return { write, failed }
}
