import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { Operation } from '../mapping/operation.ts'
import type { Answer, Backend, Incoming, Served } from '../modes/backend.ts'
import { SERVED_BY } from '../modes/mode.ts'
import type { Choice, Modes } from '../modes/modes.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Router } from '../translate/router.ts'
import { type TranslateSettings, translate, unknownParameters } from '../translate/translated.ts'
import type { SendFor } from '../upstream/send.ts'
import type { Signal } from '../upstream/signal.ts'
import type { RawHeaders } from './announce.ts'
import { sendAnswer, sendError } from './answer.ts'
import { watchCalls } from './calls.ts'
import type { Exchange } from './exchange.ts'
import type { Forwarded } from './forwarded.ts'
import { isBodyWithin, readIncoming } from './incoming.ts'
import type { Legacy } from './legacy.ts'
import { type Routed, routeRequest } from './match.ts'
import type { Metrics } from './metrics.ts'
import { whenOver } from './over.ts'
import { methodNotAllowed, notFound } from './refusal.ts'
import { clientSignal, requestSignal } from './signal.ts'

interface CompatSettings extends TranslateSettings {
  readonly limits: TranslateSettings['limits'] & { readonly requestBytes: number; readonly deadlineMs: number }
}

/** Serves one v1 request; `path` is decoded. */
export type Compat = (request: FastifyRequest, reply: FastifyReply, path: string, exchange: Exchange) => FastifyReply | Promise<unknown>

export interface CompatParts {
  readonly router: Router
  readonly sendFor: SendFor
  /** Undefined when no v1 upstream is configured. */
  readonly legacy: Legacy | undefined
  readonly modes: Modes
  readonly forwarded: Forwarded
  readonly announced: RawHeaders
  readonly metrics: Metrics
  /** Undefined when traces go nowhere. */
  readonly tracing: Tracing | undefined
}

/** The v1 surface, top to bottom. */
export function createCompat(
  { router, sendFor, legacy, forwarded, announced, modes, metrics, tracing }: CompatParts,
  settings: CompatSettings,
): Compat {
  return (request, reply, path, exchange) => {
    exchange.span = tracing?.begin(request.raw.headers)
    if (legacy) forwarded.rewrite(request.raw)
    const refuse = (thrown: unknown) => {
      exchange.error = asApiError(thrown)
      return sendError(reply, exchange.error)
    }
    try {
      const routed = routeRequest(router, request.raw, path)
      const match = typeof routed.match === 'object' ? routed.match : undefined
      if (match) exchange.operation = match.operation.id
      const choice = match?.operation.plan && modes.choose(match.operation, request.raw.url ?? '', request.raw.headers)
      exchange.mode = choice?.mode ?? (legacy ? 'v1' : 'v2')
      if (match) watch(match, choice ?? { ...modes.identify(request.raw.headers), mode: exchange.mode }, reply.raw)
      if (match && choice && !passesOn(choice, request.raw)) {
        return serve(match.operation, routed, choice, request.raw, reply, exchange).catch(refuse)
      }
      if (!legacy) throw refusal(routed, match?.operation)
      return legacy(request, reply, path, exchange)
    } catch (thrown) {
      return refuse(thrown)
    }
  }

  /** Counts the request when it is over, and tells its writes from then until then. */
  function watch({ operation, params }: Exclude<Routed['match'], string | undefined>, choice: Choice, response: ServerResponse) {
    const written = modes.writing(operation, params, choice.caller)
    whenOver(response, () => {
      written()
      if (response.statusCode !== UNAUTHENTICATED) modes.used(choice, operation.id, choice.mode)
    })
  }

  /** v1 streams what nobody compares; also a body of unknown length, which may be more than could be compared. */
  function passesOn({ mode }: Choice, raw: IncomingMessage): boolean {
    return mode === 'v1' || (SERVED_BY[mode] === 'v1' && !isBodyWithin(raw, settings.limits.requestBytes))
  }

  async function serve(
    operation: Operation,
    routed: Routed,
    choice: Choice,
    raw: IncomingMessage,
    reply: FastifyReply,
    exchange: Exchange,
  ) {
    const signal = requestSignal(reply.raw, settings.limits.deadlineMs)
    const failed = (error: ApiError) => {
      exchange.error = error
    }
    const coming = readIncoming(routed, raw, exchange.id, settings.limits.requestBytes, signal)
    const read = coming instanceof Promise ? await coming : coming
    const { caller, subject } = choice
    const client = legacy ? clientSignal(reply.raw) : signal
    const incoming: Incoming = { raw: read.raw, read: read.read, caller, subject, operation, client }
    const { answer, by, failed: spared } = await modes.serve(choice.mode, incoming, translated(signal, exchange, failed))
    if (spared) exchange.mode = 'fallback'
    const ends = by === 'v1' ? client : signal
    return sendAnswer(reply, { id: exchange.id, announced }, watched(answer, ends, failed), ends)
  }

  /** Answers from v2. */
  function translated(signal: Signal, exchange: Exchange, failed: (error: ApiError) => void): Backend {
    const onCall = watchCalls(exchange, metrics)
    const onParsed = () => {
      exchange.parsedPages += 1
    }
    return ({ operation, raw, read }: Incoming) => {
      const v1Request = read()
      const unknown = unknownParameters(operation, v1Request)
      if (unknown.length > 0) exchange.dropped = unknown.map(nameForLog)
      const send = sendFor({ headers: raw.headers, requestId: exchange.id, signal, onCall, onParsed })
      return translate(operation, v1Request, send, settings, failed).then(byV2)
    }
  }
}

const byV2 = (answer: Answer): Served => ({ answer, by: 'v2' })

const UNAUTHENTICATED = 401

/** What v1's gateway answered to such a path, or which setting would let a v1 service answer it. */
function refusal({ match }: Routed, operation: Operation | undefined): ApiError {
  if (!operation) return match === 'other-method' ? methodNotAllowed() : notFound()
  const message = `${operation.id} needs a v1 service: ${operation.because}; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on`
  return new ApiError('UNIMPLEMENTED', message)
}

/** A parameter that no table knows may be anything, a pasted token too; what looks like a name is told. */
function nameForLog(name: string): string {
  return /^[A-Za-z][\w.]{0,39}$/.test(name) ? name : '(no name)'
}

/** The same answer; whatever breaks its stream off, be it v2 or the signal, is recorded before it breaks the connection. */
function watched(answer: Answer, signal: Signal, failed: (error: ApiError) => void): Answer {
  if (!('stream' in answer) || answer.pieces) return answer
  const { stream } = answer
  async function* observed() {
    try {
      yield* stream
    } catch (thrown) {
      failed(asApiError(signal.aborted ? signal.reason : thrown))
      throw thrown
    }
  }
  return { status: answer.status, headers: answer.headers, stream: observed() }
}
