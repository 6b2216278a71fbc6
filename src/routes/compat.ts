import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { Operation } from '../mapping/operation.ts'
import type { Answer, Backend, Incoming } from '../modes/backend.ts'
import { SERVED_BY } from '../modes/mode.ts'
import type { Choice, Modes } from '../modes/modes.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Router } from '../translate/router.ts'
import { oneReadOf, type Reading, type TranslateSettings, translate, translateRead, unknownParameters } from '../translate/translated.ts'
import type { CallContext, SendFor } from '../upstream/send.ts'
import type { Signal } from '../upstream/signal.ts'
import type { RawHeaders } from './announce.ts'
import { sendAnswer, sendError } from './answer.ts'
import { watchCalls } from './calls.ts'
import type { Exchange } from './exchange.ts'
import type { Forwarded } from './forwarded.ts'
import { isBodyWithin, type ReadRequest, readIncoming } from './incoming.ts'
import { createKnownReads, type KnownRead } from './known-reads.ts'
import type { Legacy } from './legacy.ts'
import { type Routed, routeRequest } from './match.ts'
import type { Metrics } from './metrics.ts'
import { whenOver } from './over.ts'
import { methodNotAllowed, notFound } from './refusal.ts'
import { clientSignal, createRequestSignals } from './signal.ts'

interface CompatSettings extends TranslateSettings {
  readonly limits: TranslateSettings['limits'] & { readonly requestBytes: number; readonly deadlineMs: number }
}

/** Serves one v1 request; `path` is decoded. */
export type Compat = (
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  exchange: Exchange,
) => FastifyReply | Promise<unknown> | undefined

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
  const reads = createKnownReads()
  const requestSignal = createRequestSignals(settings.limits.deadlineMs)
  return (request, reply, path, exchange) => {
    exchange.span = tracing?.begin(request.raw.headers)
    if (legacy) forwarded.rewrite(request.raw)
    const refuse = (thrown: unknown) => {
      exchange.error = asApiError(thrown)
      return sendError(reply, exchange.error)
    }
    try {
      const routed = reads.find(request.raw)?.routed ?? routeRequest(router, request.raw, path)
      const match = typeof routed.match === 'object' ? routed.match : undefined
      if (match) exchange.operation = match.operation.id
      const choice = match?.operation.plan && modes.choose(match.operation, request.raw.url ?? '', request.raw.headers)
      exchange.mode = choice?.mode ?? (legacy ? 'v1' : 'v2')
      if (match) watch(match, choice ?? { ...modes.identify(request.raw.headers), mode: exchange.mode }, reply.raw)
      if (match && choice && !passesOn(choice, request.raw)) {
        const served = serve(match.operation, routed, choice, request.raw, reply, exchange)
        return served instanceof Promise ? served.catch(refuse) : served
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

  function serve(operation: Operation, routed: Routed, choice: Choice, raw: IncomingMessage, reply: FastifyReply, exchange: Exchange) {
    const signal = requestSignal(reply.raw)
    const failed = (error: ApiError) => {
      exchange.error = error
    }
    const coming = readIncoming(routed, raw, exchange.id, settings.limits.requestBytes, signal)
    const read = legacy || coming instanceof Promise ? undefined : knownRead(operation, routed, coming)
    if (!read) return serveIn(choice, operation, routed, coming, reply, exchange, signal, failed)
    serveRead(operation, read, reply, exchange, signal, failed)
    return undefined
  }

  /** A read that is one call to v2, or begins as one. */
  function knownRead(operation: Operation, routed: Routed, { raw, read }: ReadRequest): KnownRead | undefined {
    const found = reads.find(raw)
    if (found) return found
    const request = read()
    const one = oneReadOf(operation, request, settings)
    if (!one) return undefined
    const known = { ...one, routed, unknown: unknownParameters(operation, request) }
    reads.keep(raw, known)
    return known
  }

  /** Where nobody else could answer it. */
  function serveRead(operation: Operation, read: KnownRead, reply: FastifyReply, exchange: Exchange, signal: Signal, failed: Failed) {
    const reading = readingOf(contextOf(read.unknown, reply.request.raw.headers, exchange, signal))
    const done = (answer: Answer) => {
      try {
        sendAnswer(reply, { id: exchange.id, announced }, watched(answer, signal, failed), signal)
      } catch (thrown) {
        exchange.error = asApiError(thrown)
        sendError(reply, exchange.error)
      }
    }
    translateRead(operation, read, reading, settings, failed, done)
  }

  async function serveIn(
    { mode, caller, subject }: Choice,
    operation: Operation,
    routed: Routed,
    coming: ReadRequest | Promise<ReadRequest>,
    reply: FastifyReply,
    exchange: Exchange,
    signal: Signal,
    failed: Failed,
  ) {
    const { raw, read } = await coming
    const client = legacy ? clientSignal(reply.raw) : signal
    const incoming: Incoming = { raw, read, caller, subject, operation, client }
    const { answer, by, failed: spared } = await modes.serve(mode, incoming, translated(routed, signal, exchange, failed))
    if (spared) exchange.mode = 'fallback'
    const ends = by === 'v1' ? client : signal
    return sendAnswer(reply, { id: exchange.id, announced }, watched(answer, ends, failed), ends)
  }

  /** Answers from v2. */
  function translated(routed: Routed, signal: Signal, exchange: Exchange, failed: Failed): Backend {
    return async ({ operation, raw, read }: Incoming) => {
      const known = knownRead(operation, routed, { raw, read })
      const unknown = known?.unknown ?? unknownParameters(operation, read())
      const reading = readingOf(contextOf(unknown, raw.headers, exchange, signal))
      return new Promise((resolve) => {
        const done = (answer: Answer) => resolve({ answer, by: 'v2' })
        if (known) translateRead(operation, known, reading, settings, failed, done)
        else void translate(operation, read(), reading.send(), settings, failed).then(done)
      })
    }
  }

  function readingOf(context: CallContext): Reading {
    return { readTo: (call, landing) => sendFor.read(context, call, landing), send: () => sendFor(context) }
  }

  /** What the calls of a request share. */
  function contextOf(unknown: readonly string[], headers: IncomingHttpHeaders, exchange: Exchange, signal: Signal): CallContext {
    if (unknown.length > 0) exchange.dropped = unknown.map(nameForLog)
    const onParsed = () => {
      exchange.parsedPages += 1
    }
    return { headers, requestId: exchange.id, signal, onCall: watchCalls(exchange, metrics), onParsed }
  }
}

/** Told of an error that the client sees. */
type Failed = (error: ApiError) => void

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
  if (!('stream' in answer)) return answer
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
