import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asApiError, type ErrorForm } from '../errors.ts'
import type { Room } from '../limits/room.ts'
import type { Signal } from '../limits/signal.ts'
import { whenClosed } from '../relay/on-close.ts'
import { type BodyLimits, createReadBytes } from '../request/body.ts'
import { type ClientRequest, createRequest, takesBody } from '../request/request.ts'
import { type AnswerDecision, choose, count, type Decision } from '../serve/choose.ts'
import type { Writer } from '../serve/conversation.ts'
import type { Core } from '../serve/core.ts'
import type { RequestRecord } from '../serve/request-record.ts'
import { respond } from '../serve/respond.ts'
import type { Side } from '../serve/sides.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Answer } from '../translate/answer.ts'
import type { RawHeaders } from './announce.ts'
import type { V1Carrier } from './carriers/v1.ts'
import type { Forwarded } from './forwarded/forwarded.ts'
import { clientSignal, createRequestSignals } from './lifetime/client-signal.ts'
import { unserved } from './refusal.ts'
import { sendAnswer, sendError, watched } from './send-answer.ts'

/** Serves one v1 request over HTTP; `path` is decoded. */
export type Compat = (request: FastifyRequest, reply: FastifyReply, path: string, record: RequestRecord) => FastifyReply | undefined

export interface CompatParts {
  readonly core: Core
  /** Undefined when no v1 upstream is configured. */
  readonly v1: V1Carrier | undefined
  readonly forwarded: Forwarded
  readonly announced: RawHeaders
  /** Undefined when traces are not sent. */
  readonly tracing: Tracing | undefined
  /** The room that the bodies of all requests share. */
  readonly room: Room
  readonly limits: BodyLimits & { readonly deadlineMs: number }
}

/** Creates the v1 surface over HTTP. It decides about a request, then passes it on or answers it. */
export function createCompat(parts: CompatParts): Compat {
  const { core, v1, forwarded, announced, tracing, room, limits } = parts
  const requestSignal = createRequestSignals(limits.deadlineMs)
  const readBytes = createReadBytes(limits, room)

  const passOn = (request: FastifyRequest, { reply, record }: Http, { routed }: Decision) => {
    if (!v1) throw unserved(routed)
    const passed = v1(request, reply, record)
    record.asked = true
    return passed
  }
  const answer = (http: Http, decision: AnswerDecision) => {
    const { raw } = http.reply
    const signal = requestSignal(raw)
    if (takesBody(decision.routed)) {
      readBytes(raw, signal)
        .then((body) => answerWith(http, decision, body, signal))
        .catch((thrown) => refuse(http, thrown))
    } else answerWith(http, decision, undefined, signal)
    return undefined
  }
  const answerWith = (http: Http, decision: AnswerDecision, body: Buffer | undefined, signal: Signal) => {
    const { reply, record } = http
    const client = v1 ? clientSignal(reply.raw) : signal
    const request = requestOf(http, decision, body, { client, signal })
    respond(core, { decision, request, record }, new HttpWriter(http, request, announced))
  }
  return (request, reply, path, record) => {
    record.span = tracing?.begin(request.raw.headers)
    if (v1) forwarded.rewrite(request.raw)
    const http = { reply, record, errors: core.settings.errors }
    try {
      const decision = choose(core, request.raw, path, record)
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
  readonly record: RequestRecord
  readonly errors: ErrorForm | undefined
}

function requestOf(
  { reply, record }: Http,
  { routed, choice }: AnswerDecision,
  body: Buffer | undefined,
  { client, signal }: Pick<ClientRequest, 'client' | 'signal'>,
): ClientRequest {
  const { method = '', url = '', headers } = reply.request.raw
  const { operation, raw, read } = createRequest(routed, { id: record.id, method, url, headers, body })
  const { caller, subject, credential } = choice
  return { operation, raw, read, caller, subject, credential, client, signal }
}

function refuse({ reply, record, errors }: Http, thrown: unknown): FastifyReply {
  record.error = asApiError(thrown)
  return sendError(reply, record.error, record.error.http, errors)
}

function countWhenOver(core: Core, decision: Decision, path: string, { reply, record }: Http): void {
  const response: ServerResponse = reply.raw
  const over = () => {
    const status = response.headersSent ? response.statusCode : undefined
    count(core, decision, { head: reply.request.raw, path, record, status })
  }
  whenClosed(response, { over, next: undefined })
}

/** Writes the answer to one request. A class, because every request has one. */
class HttpWriter implements Writer {
  readonly #http: Http
  readonly #request: ClientRequest
  readonly #announced: RawHeaders

  constructor(http: Http, request: ClientRequest, announced: RawHeaders) {
    this.#http = http
    this.#request = request
    this.#announced = announced
  }

  /** A v1 answer may exceed the request's deadline. Only its client ends it. */
  write(answer: Answer, by: Side, isOwn: boolean): void {
    const { reply, record } = this.#http
    const until = by === 'v1' ? this.#request.client : this.#request.signal
    try {
      const sent = 'stream' in answer ? watched(answer, until, record, reply.raw) : answer
      sendAnswer(reply, { id: record.id, announced: this.#announced }, sent, until, isOwn)
    } catch (thrown) {
      this.failed(thrown)
    }
  }

  failed(thrown: unknown): void {
    refuse(this.#http, thrown)
  }
}
