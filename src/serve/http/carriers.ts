import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Agent, Dispatcher } from 'undici'
import { ApiError, asApiError, isUnrelayable, unrelayable } from '../../errors.ts'
import { flat, grouped, relayable } from '../../heads.ts'
import type { RequestRecord } from '../core.ts'
import { endToEnd } from '../heads.ts'
import { answerSignal, createDeadlines } from '../listen/times.ts'
import { handshakeOf } from '../listen/upgrades.ts'
import { type Signal, whenClosed } from '../signals.ts'
import { createNative, isUnframable, type NativeSettings } from '../upstream/native.ts'
import { fromV1Transport } from '../upstream/v1.ts'
import { createWebSocketLog, type RequestMetrics } from '../watch/access-log.ts'
import type { Forwarded } from './forwarded.ts'
import { refuse, sendError } from './v1-surface.ts'
import { createWebSockets, type WebSocketLimits } from './web-sockets.ts'

/** Passes one v1 request unchanged to the v1 upstream. */
export type V1Carrier = (request: FastifyRequest, reply: FastifyReply, record: RequestRecord) => FastifyReply

interface V1CarrierSettings {
  /** The origin of the v1 service, with an optional path prefix. */
  readonly base: string
  /** Milliseconds until the v1 service must begin to answer; its body has no limit. */
  readonly answerMs: number
  /** Counts an answer that cannot be relayed. */
  readonly unrelayable: () => void
}

type Answered = (error: Error | null, answer: Dispatcher.ResponseData) => void

/** Values that reply-from does not carry. */
interface Passing {
  readonly signal: Signal
  /** The target that is sent. */
  readonly path: string
  /** The client's major version of HTTP. */
  readonly version: number
}

/**
 * Sends requests to the v1 service with reply-from and closes its measured traps (design §6.2). The shared pool verifies TLS, nothing is
 * retried, and bodies are streams without re-encoding. A client that goes away ends the upstream call, and errors have our form. The
 * target is the client's text. reply-from would parse it as a URL, turn `\` into `/` and cut off a `#` with what follows.
 */
export function createV1Carrier(app: FastifyInstance, pool: Agent, { base, answerMs, unrelayable: count }: V1CarrierSettings): V1Carrier {
  const { origin, pathname } = new URL(base)
  const prefix = pathname.replace(/\/$/, '')
  // reply-from asks `request` before `from` returns, so that what belongs to one request needs no store of its own.
  let passing: Passing | undefined
  const request = (options: Dispatcher.RequestOptions, answered: Answered) => {
    const { version, signal, path } = passing as Passing
    // undici asks a signal for no more than `Signal` has.
    pool.request({ ...options, path, signal: signal as AbortSignal, headersTimeout: answerMs, bodyTimeout: 0 }, (error, answer) => {
      if (error) answered(error, answer)
      else passOn(version, answer, answered)
    })
  }
  // It loads all of undici. A start without a v1 service goes without both.
  app.register(import('@fastify/reply-from'), {
    base: origin,
    undici: { request: request as Dispatcher['request'] },
    disableRequestLogging: true,
  })

  return (request, reply, record) => {
    const withBody = hasBody(request)
    if (withBody) request.body = request.raw
    passing = { signal: answerSignal(reply.raw), path: prefix + request.raw.url, version: request.raw.httpVersionMajor }
    return reply.from('/', {
      retryDelay: () => null,
      rewriteRequestHeaders: (_, headers) => requestHeaders(headers, record.id, withBody),
      rewriteHeaders: (headers) => ({ ...endToEnd(headers), 'x-request-id': record.id }),
      onError: (_, { error }) => {
        record.error = fromV1Transport(error.cause ?? error)
        if (isUnrelayable(record.error)) count()
        sendError(reply, record.error)
      },
    })
  }
}

/**
 * Passes reply-from an answer that a client can be given. reply-from writes the head in an event handler, where a refusal is impossible.
 */
function passOn(version: number, answer: Dispatcher.ResponseData, answered: Answered): void {
  const head = relayable(version, { status: answer.statusCode, reason: '', headers: flat(answer.headers) })
  if ('problem' in head) {
    answer.body.on('error', () => {}).destroy()
    answered(unrelayable('v1', head.problem), answer)
  } else answered(null, { ...answer, headers: grouped(head.headers) })
}

function hasBody({ method, headers }: FastifyRequest): boolean {
  const framed = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return framed && method !== 'GET' && method !== 'HEAD'
}

/** Drops `Expect`: our server has answered it, and undici refuses to send it. */
function requestHeaders<T>(headers: Readonly<Record<string, T>>, id: string, withBody: boolean) {
  const { expect: _, ...kept } = { ...endToEnd(headers), 'x-request-id': id } as Record<string, T | string>
  return withBody ? kept : { ...kept, 'content-length': undefined }
}

const LENGTH_REQUIRED = 411

/** Carries everything that is not v1: native v2 calls, uploads, WebSockets. */
export interface Passthrough {
  /** Passes a request to v2 without looking at its content. */
  serve(request: FastifyRequest, reply: FastifyReply, record: RequestRecord): void
  /** Ends all WebSockets. */
  endWebSockets(): void
  close(): void
}

export interface PassthroughParts {
  readonly forwarded: Forwarded
  readonly metrics: Pick<RequestMetrics, 'unrelayable' | 'watchWebSockets'>
  readonly log: Logger
}

export interface PassthroughSettings extends NativeSettings, WebSocketLimits {
  /** Milliseconds to connect to v2; after that v2 has no limit. */
  readonly connectionMs: number
}

export function createPassthrough(settings: PassthroughSettings, { forwarded, metrics, log }: PassthroughParts): Passthrough {
  const exchanges = new WeakMap<ServerResponse, RequestRecord>()
  const fail = (response: ServerResponse, error: ApiError, status?: number) => {
    const record = exchanges.get(response)
    if (record) record.error = error
    if (isUnrelayable(error)) metrics.unrelayable('native')
    refuse(response, error, status)
  }
  const native = createNative(settings, fail)
  const waits = createDeadlines(settings.connectionMs)
  const webSockets = createWebSockets(native, settings, fail)
  const webSocketEnded = createWebSocketLog(log, forwarded)
  metrics.watchWebSockets(webSockets.count)
  const carry = (request: FastifyRequest, response: ServerResponse, record: RequestRecord) => {
    const handshake = handshakeOf(request.raw)
    if (handshake) webSockets.open(request.raw, response, handshake, (end) => webSocketEnded(request.raw, record, end))
    else if (isUnframable(request.raw)) fail(response, lengthRequired(), LENGTH_REQUIRED)
    else {
      const waiting = { late: () => fail(response, noConnection(settings.connectionMs)) }
      const connected = () => waits.forget(waiting)
      waits.watch(waiting)
      whenClosed(response, { over: connected, next: undefined })
      native.web(request.raw, response, connected)
    }
  }
  return {
    serve(request, reply, record) {
      const response = reply.raw
      reply.hijack()
      record.operation = 'native'
      record.mode = 'native'
      exchanges.set(response, record)
      forwarded.rewrite(request.raw)
      try {
        carry(request, response, record)
      } catch (thrown) {
        fail(response, asApiError(thrown))
      }
    },
    endWebSockets: webSockets.end,
    close: native.close,
  }
}

function noConnection(ms: number): ApiError {
  return new ApiError('UNAVAILABLE', `no connection to the v2 service became free within limits.deadlineMs (${ms})`)
}

function lengthRequired(): ApiError {
  const message = 'a DELETE or OPTIONS request with a body needs a content-length header'
  return new ApiError('INVALID_ARGUMENT', message, { headers: { connection: 'close' } })
}
