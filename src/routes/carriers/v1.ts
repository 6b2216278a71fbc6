import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Agent, Dispatcher } from 'undici'
import { isUnrelayable, unrelayable } from '../../errors.ts'
import { flat, grouped, relayable } from '../../heads.ts'
import { abortSignalOf } from '../../limits/signal.ts'
import type { RequestRecord } from '../../serve/request-record.ts'
import { fromV1Transport } from '../../upstream/ask-v1.ts'
import { endToEnd } from '../../upstream/hop-by-hop.ts'
import { answerSignal } from '../lifetime/client-signal.ts'
import { sendError } from '../send-answer.ts'

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
  readonly signal: AbortSignal
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
  const passing = new AsyncLocalStorage<Passing>()
  const request = (options: Dispatcher.RequestOptions, answered: Answered) => {
    const { version, ...to } = passing.getStore() as Passing
    pool.request({ ...options, ...to, headersTimeout: answerMs, bodyTimeout: 0 }, (error, answer) => {
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
    const signal = abortSignalOf(answerSignal(reply.raw))
    passing.run({ signal, path: prefix + request.raw.url, version: request.raw.httpVersionMajor }, () =>
      reply.from('/', {
        retryDelay: () => null,
        rewriteRequestHeaders: (_, headers) => requestHeaders(headers, record.id, withBody),
        rewriteHeaders: (headers) => ({ ...endToEnd(headers), 'x-request-id': record.id }),
        onError: (_, { error }) => {
          record.error = fromV1Transport(error.cause ?? error)
          if (isUnrelayable(record.error)) count()
          sendError(reply, record.error)
        },
      }),
    )
    return reply
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
