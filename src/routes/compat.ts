import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asApiError } from '../errors/to-v1.ts'
import { whenOver } from '../listen/over.ts'
import type { Side } from '../modes/choose/mode.ts'
import { type BodyLimits, createReadBytes } from '../request/body.ts'
import { type ReadRequest, readIncoming } from '../request/incoming.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Answer } from '../translate/answer.ts'
import type { RawHeaders } from './announce.ts'
import { sendAnswer, sendError, watched } from './answer.ts'
import type { Legacy } from './carriers/legacy.ts'
import { answer, type Core, choose, count, type Decision, type Serving } from './core.ts'
import type { Exchange } from './exchange.ts'
import type { Forwarded } from './forwarded/forwarded.ts'
import { clientSignal, createRequestSignals } from './lifetime/client-signal.ts'
import { unserved } from './refusal.ts'
import type { Metrics } from './watch/metrics.ts'

/** Serves one v1 request over HTTP; `path` is decoded. */
export type Compat = (request: FastifyRequest, reply: FastifyReply, path: string, exchange: Exchange) => FastifyReply | undefined

export interface CompatParts {
  readonly core: Core
  /** Undefined when no v1 upstream is configured. */
  readonly legacy: Legacy | undefined
  readonly forwarded: Forwarded
  readonly announced: RawHeaders
  readonly metrics: Metrics
  /** Undefined when traces go nowhere. */
  readonly tracing: Tracing | undefined
  readonly limits: BodyLimits & { readonly deadlineMs: number }
}

/** The v1 surface over HTTP: it decides, and then passes the request on or answers it. */
export function createCompat(parts: CompatParts): Compat {
  const { core, legacy, forwarded, metrics, tracing, limits } = parts
  const requestSignal = createRequestSignals(limits.deadlineMs)
  const readBytes = createReadBytes(limits, () => metrics.refused('bodies'))

  const passOn = (request: FastifyRequest, reply: FastifyReply, decision: Decision, exchange: Exchange) => {
    if (!legacy) throw unserved(decision.routed, decision.operation)
    const passed = legacy(request, reply, exchange)
    exchange.asked = true
    return passed
  }
  const serve = (http: Http, decision: Decided) => {
    const { reply, exchange } = http
    const signal = requestSignal(reply.raw)
    const read = readIncoming(decision.routed, reply.raw, exchange.id, readBytes, signal)
    const go = (incoming: ReadRequest) => {
      const client = legacy ? clientSignal(reply.raw) : signal
      write(http, { decision, incoming: { ...incoming, client }, signal, exchange }, parts)
    }
    if (read instanceof Promise) read.then(go).catch((thrown) => refuse(http, thrown))
    else go(read)
    return undefined
  }
  return (request, reply, path, exchange) => {
    exchange.span = tracing?.begin(request.raw.headers)
    if (legacy) forwarded.rewrite(request.raw)
    try {
      const decision = choose(core, request.raw, path, exchange)
      countWhenOver(core, decision, reply.raw, exchange)
      return isOurs(decision) ? serve({ reply, exchange }, decision) : passOn(request, reply, decision, exchange)
    } catch (thrown) {
      return refuse({ reply, exchange }, thrown)
    }
  }
}

type Decided = Serving['decision']

function isOurs(decision: Decision): decision is Decided {
  return !decision.passes
}

interface Http {
  readonly reply: FastifyReply
  readonly exchange: Exchange
}

function refuse({ reply, exchange }: Http, thrown: unknown): FastifyReply {
  exchange.error = asApiError(thrown)
  return sendError(reply, exchange.error)
}

function countWhenOver(core: Core, decision: Decision, response: ServerResponse, exchange: Exchange): void {
  const over = () => count(core, decision, exchange, response.headersSent ? response.statusCode : undefined)
  whenOver(response, { over, next: undefined })
}

/** Writes the answer to a request. One of v1 may take longer than the request's deadline. */
function write(http: Http, serving: Serving, { core, announced }: CompatParts): void {
  const { reply, exchange } = http
  const failed = (thrown: unknown) => void refuse(http, thrown)
  const send = (given: Answer, by: Side) => {
    const signal = by === 'v1' ? serving.incoming.client : serving.signal
    const brokeOff = (error: NonNullable<Exchange['error']>) => {
      exchange.error = error
    }
    try {
      sendAnswer(reply, { id: exchange.id, announced }, watched(given, signal, brokeOff), signal)
    } catch (thrown) {
      failed(thrown)
    }
  }
  answer(core, serving, { write: send, failed })
}
