import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { ApiError, asApiError, isUnrelayable } from '../../errors.ts'
import { createDeadlines } from '../../listen/times/deadlines.ts'
import { handshakeOf } from '../../listen/upgrades.ts'
import { whenClosed } from '../../relay/on-close.ts'
import type { RequestRecord } from '../../serve/request-record.ts'
import { createNative, isUnframable, type NativeSettings } from '../../upstream/native/native.ts'
import type { Forwarded } from '../forwarded/forwarded.ts'
import { refuse } from '../refusal.ts'
import { createWebSocketLog } from '../watch/logs/web-socket-log.ts'
import type { RequestMetrics } from '../watch/metrics/request-metrics.ts'
import { createWebSockets, type WebSocketLimits } from './web-sockets.ts'

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
