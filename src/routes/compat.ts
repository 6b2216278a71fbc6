import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import { whenOver } from '../listen/over.ts'
import { SERVED_BY } from '../modes/choose/mode.ts'
import type { Choice, Modes } from '../modes/modes.ts'
import type { Answer, Backend, Incoming } from '../modes/serve/backend.ts'
import type { Operation } from '../tables/language/operation.ts'
import { createOnlyV1 } from '../tables/language/v1-values.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { createRouter } from '../translate/router.ts'
import { oneReadOf, type Reading, type TranslateSettings, translate, translateRead, unknownParameters } from '../translate/translated.ts'
import type { CallContext, SendFor } from '../upstream/send.ts'
import type { Signal } from '../upstream/signal.ts'
import type { RawHeaders } from './announce.ts'
import { sendAnswer, sendError, watched } from './answer.ts'
import { type BodyLimits, createReadBytes } from './body.ts'
import { watchCalls } from './calls.ts'
import type { Exchange } from './exchange.ts'
import type { Forwarded } from './forwarded.ts'
import { isBodyWithin, type ReadRequest, readIncoming } from './incoming.ts'
import { createKnownReads, type KnownRead } from './known-reads.ts'
import type { Legacy } from './legacy.ts'
import { type Routed, routeRequest } from './match.ts'
import type { Metrics } from './metrics.ts'
import { createNameForLog } from './name-for-log.ts'
import { parseQuery, searchOf } from './query.ts'
import { unserved } from './refusal.ts'
import { clientSignal, createRequestSignals } from './signal.ts'

interface CompatSettings extends TranslateSettings {
  readonly limits: TranslateSettings['limits'] & BodyLimits & { readonly deadlineMs: number }
}

/** Serves one v1 request; `path` is decoded. */
export type Compat = (
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  exchange: Exchange,
) => FastifyReply | Promise<unknown> | undefined

export interface CompatParts {
  readonly operations: readonly Operation[]
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
  { operations, sendFor, legacy, forwarded, announced, modes, metrics, tracing }: CompatParts,
  settings: CompatSettings,
): Compat {
  const router = createRouter(operations)
  const onlyV1 = createOnlyV1(legacy ? operations : [])
  const nameForLog = createNameForLog(operations)
  const reads = createKnownReads()
  const requestSignal = createRequestSignals(settings.limits.deadlineMs)
  const readBytes = createReadBytes(settings.limits, () => metrics.refused('bodies'))
  return (request, reply, path, exchange) => {
    exchange.span = tracing?.begin(request.raw.headers)
    if (legacy) forwarded.rewrite(request.raw)
    const refuse = (thrown: unknown) => {
      exchange.error = asApiError(thrown)
      return sendError(reply, exchange.error)
    }
    try {
      const known = reads.find(request.raw)
      const routed = known?.routed ?? routeRequest(router, request.raw, path)
      const match = typeof routed.match === 'object' ? routed.match : undefined
      if (match) exchange.operation = match.operation.id
      if (match && !known && !routed.form) exchange.onlyV1 = onlyV1(match.operation, () => parseQuery(searchOf(request.raw.url ?? '')))
      const isServed = match?.operation.plan && !exchange.onlyV1
      const choice = isServed ? modes.choose(match.operation, request.raw.url ?? '', request.raw.headers) : undefined
      exchange.mode = choice?.mode ?? (legacy ? 'v1' : 'v2')
      const isOurs = choice && !passesOn(choice, request.raw)
      if (match) watch(match, choice ?? { ...modes.identify(request.raw.headers), mode: exchange.mode }, reply.raw, exchange, !isOurs)
      if (match && isOurs) {
        const served = serve(match.operation, routed, known, choice, reply, exchange)
        return served instanceof Promise ? served.catch(refuse) : served
      }
      if (!legacy) throw unserved(routed, match?.operation)
      if (!match) watchUnknown(request.raw, path, reply.raw, exchange)
      const passed = legacy(request, reply, exchange)
      exchange.asked = true
      return passed
    } catch (thrown) {
      return refuse(thrown)
    }
  }

  /** Counts the request when it is over, and tells its writes from then until then. `passes`: its answer is v1's, as it is. */
  function watch({ operation, params }: Matched, choice: Choice, response: ServerResponse, exchange: Exchange, passes: boolean) {
    const written = modes.writing(operation, params, choice)
    const over = () => {
      if (passes && exchange.asked && response.headersSent) modes.heard(operation, choice.credential, response.statusCode)
      written()
      const counted = exchange.onlyV1 ? { ...choice, mode: 'v1' as const } : choice
      modes.used(counted, exchange.onlyV1 ?? operation, !exchange.asked && response.statusCode >= 400)
    }
    whenOver(response, { over, next: undefined })
  }

  /** What v1 answers well will be missed when v1 is gone, whether a table knows it or not. */
  function watchUnknown({ method = '', headers }: IncomingMessage, path: string, response: ServerResponse, exchange: Exchange) {
    const over = () => {
      if (exchange.asked && response.headersSent && response.statusCode < 400) modes.usedUnknown(method, path, headers)
    }
    whenOver(response, { over, next: undefined })
  }

  /** v1 streams what nobody compares; also a body of unknown length, which may be more than could be compared. */
  function passesOn({ mode }: Choice, raw: IncomingMessage): boolean {
    return mode === 'v1' || (SERVED_BY[mode] === 'v1' && !isBodyWithin(raw, settings.limits.requestBytes))
  }

  function serve(
    operation: Operation,
    routed: Routed,
    known: KnownRead | undefined,
    choice: Choice,
    reply: FastifyReply,
    exchange: Exchange,
  ) {
    const signal = requestSignal(reply.raw)
    const failed = (error: ApiError) => {
      exchange.error = error
    }
    const serving: Serving = { operation, routed, known, choice, reply, exchange, signal, failed }
    if (known && !legacy) return serveRead(serving, known)
    const coming = readIncoming(routed, reply.raw, exchange.id, readBytes, signal)
    const read = legacy || coming instanceof Promise ? undefined : knownRead(serving, coming)
    return read ? serveRead(serving, read) : serveIn(serving, coming)
  }

  /** A read that is one call to v2, or begins as one. */
  function knownRead({ operation, routed, known }: Serving, { raw, read }: ReadRequest): KnownRead | undefined {
    if (known) return known
    const request = read()
    const oneRead = oneReadOf(operation, request, settings)
    if (!oneRead) return undefined
    const found = { ...oneRead, routed, unknown: unknownParameters(operation, request) }
    reads.keep(raw, found)
    return found
  }

  /** Where nobody else could answer it. */
  function serveRead(serving: Serving, read: KnownRead): undefined {
    const { operation, reply, exchange, failed } = serving
    translateRead(operation, read, readingOf(serving, read.unknown), settings, failed, (answer) => {
      try {
        send(serving, answer, serving.signal)
      } catch (thrown) {
        exchange.error = asApiError(thrown)
        sendError(reply, exchange.error)
      }
    })
  }

  async function serveIn(serving: Serving, coming: ReadRequest | Promise<ReadRequest>) {
    const { operation, routed, choice, reply, exchange, signal } = serving
    const { raw, read } = await coming
    const client = legacy ? clientSignal(reply.raw) : signal
    const { caller, subject, credential } = choice
    if (routed.form) exchange.onlyV1 = onlyV1(operation, () => read().query)
    const mode = exchange.onlyV1 ? 'v1' : choice.mode
    exchange.mode = mode
    const incoming: Incoming = { raw, read, caller, subject, credential, operation, client }
    if (SERVED_BY[mode] === 'v1') exchange.asked = true
    const { answer, by, failed: spared } = await modes.serve(mode, incoming, translated(serving))
    if (spared) exchange.mode = 'fallback'
    return send(serving, answer, by === 'v1' ? client : signal)
  }

  function send({ reply, exchange, failed }: Serving, answer: Answer, signal: Signal) {
    return sendAnswer(reply, { id: exchange.id, announced }, watched(answer, signal, failed), signal)
  }

  /** Answers from v2. */
  function translated(serving: Serving): Backend {
    const { operation, exchange, failed } = serving
    return async ({ raw, read }: Incoming) => {
      const known = knownRead(serving, { raw, read })
      const reading = readingOf(serving, known?.unknown ?? unknownParameters(operation, read()))
      return new Promise((resolve) => {
        const done = (answer: Answer) => resolve({ answer, by: 'v2', ...(!exchange.asked && { unasked: true }) })
        if (known) translateRead(operation, known, reading, settings, failed, done)
        else void translate(operation, read(), reading.send(), settings, failed).then(done)
      })
    }
  }

  /** How the calls of a request are made. */
  function readingOf({ operation, choice, reply, exchange, signal }: Serving, unknown: readonly string[]): Reading {
    if (unknown.length > 0) exchange.dropped = unknown.map(nameForLog)
    const { headers } = reply.request.raw
    const onParsed = () => {
      exchange.parsedPages += 1
    }
    const { credential } = choice
    const onCall = watchCalls(exchange, metrics, (status) => modes.heard(operation, credential, status))
    const context: CallContext = { headers, credential, requestId: exchange.id, signal, onCall, onParsed }
    return {
      readTo(call, landing) {
        exchange.asked = true
        sendFor.read(context, call, landing)
      },
      send() {
        const send = sendFor(context)
        return (call) => {
          exchange.asked = true
          return send(call)
        }
      },
    }
  }
}

type Matched = Exclude<Routed['match'], string | undefined>

/** One request that is answered here. */
interface Serving {
  readonly operation: Operation
  readonly routed: Routed
  /** Where its URL was asked before. */
  readonly known: KnownRead | undefined
  readonly choice: Choice
  readonly reply: FastifyReply
  readonly exchange: Exchange
  readonly signal: Signal
  /** Told of an error that the client sees. */
  readonly failed: (error: ApiError) => void
}
