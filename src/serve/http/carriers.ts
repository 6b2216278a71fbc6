import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Agent, Dispatcher } from 'undici'
import { ApiError, asApiError, fromTransport, isUnrelayable, unrelayable } from '../../errors.ts'
import { grouped, type Head } from '../../heads.ts'
import { SHORT_TEXT } from '../../tables/text/engine.ts'
import type { RequestRecord } from '../core.ts'
import { endsHere, endToEnd, endToEndRaw, writeHead } from '../heads.ts'
import { AnswerSignal, createDeadlines } from '../listen/times.ts'
import { handshakeOf } from '../listen/upgrades.ts'
import { closing } from '../request.ts'
import { type Signal, whenClosed } from '../signals.ts'
import { createPool, placeOf } from '../upstream/exchange.ts'
import { BAD_GATEWAY, createNative, type Failed, isUnframable, type NativeSettings, unwritable } from '../upstream/native.ts'
import { fromV1Transport } from '../upstream/v1.ts'
import { createWebSocketLog, type RequestMetrics } from '../watch/access-log.ts'
import type { RawHeaders } from './app.ts'
import type { Forwarded } from './forwarded.ts'
import { refuse, sendError } from './v1-surface.ts'
import { createWebSockets, type WebSocketLimits } from './web-sockets.ts'

/** Passes one v1 request unchanged to the v1 upstream. */
export type V1Carrier = (request: FastifyRequest, reply: FastifyReply, record: RequestRecord) => undefined

interface V1CarrierSettings {
  /** The origin of the v1 service, with an optional path prefix. */
  readonly base: string
  /** Milliseconds until the v1 service must begin to answer; its body has no limit. */
  readonly answerMs: number
  /** Headers of every v1 answer. */
  readonly announced: RawHeaders
  /** Counts an answer that cannot be relayed. */
  readonly unrelayable: () => void
}

/**
 * Sends requests to the v1 service with reply-from and closes its measured traps (design §6.2). The shared pool verifies TLS, nothing is
 * retried, and bodies are streams without re-encoding. A client that goes away ends the upstream call, and errors have our form. The
 * target is the client's text. reply-from would parse it as a URL, turn `\` into `/` and cut off a `#` with what follows.
 * reply-from writes the head of the request. The answer goes from undici to the client without a stream between them.
 */
export function createV1Carrier(app: FastifyInstance, pool: Agent, settings: V1CarrierSettings): V1Carrier {
  const { base, answerMs } = settings
  const announced = new Map(Object.entries(grouped(settings.announced)) as [string, string][])
  const { origin, prefix } = placeOf(base)
  // reply-from asks `request` before `from` returns, so that what belongs to one request needs no store of its own.
  let relay: Relay | undefined
  const request = (options: Dispatcher.RequestOptions) => {
    const to = relay as Relay
    pool.dispatch({ ...options, path: prefix + to.target, headersTimeout: answerMs, bodyTimeout: 0 } as Dispatcher.DispatchOptions, to)
  }
  // It loads all of undici. A start without a v1 service goes without both.
  app.register(import('@fastify/reply-from'), {
    base: origin,
    undici: { request: request as unknown as Dispatcher['request'] },
    disableRequestLogging: true,
  })

  return (request, reply, record) => {
    const withBody = hasBody(request)
    if (withBody) request.body = request.raw
    relay = new Relay(request.raw, reply.raw, {
      begins: () => void reply.hijack(),
      head: (head) => ({ ...head, headers: withOurs(head.headers, announced, record.id) }),
      failed(cause) {
        const error = fromV1Transport(cause)
        record.error = error
        sendError(reply, error)
      },
      broken(cause) {
        record.error = fromV1Transport(cause)
      },
      unrelayable(problem) {
        record.error = unrelayable('v1', problem)
        settings.unrelayable()
        sendError(reply, record.error)
      },
    })
    reply.from('/', {
      retryDelay: () => null,
      rewriteRequestHeaders: (_, headers) => requestHeaders(headers, record.id, withBody),
    })
    return undefined
  }
}

/** Returns the headers of an answer with ours, which have lower-case names. Ours replace theirs, except links, which are combined. */
function withOurs(headers: readonly string[], ours: ReadonlyMap<string, string>, id: string): readonly string[] {
  const kept = ['x-request-id', id]
  const links: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]]
    const lower = name.toLowerCase()
    if (lower === 'link' && value !== ours.get(lower)) links.push(value)
    if (lower !== 'x-request-id' && !ours.has(lower)) kept.push(name, value)
  }
  for (const [name, value] of ours) kept.push(name, name === 'link' ? [...links, value].join(', ') : value)
  return kept
}

interface Relaying {
  /** The request has a connection. */
  connected?(): void
  /** The head of the answer is here. */
  begins?(): void
  /** Makes the head that the client gets of the service's, without what ends at this hop. */
  head(head: Head): Head
  /** Answers a request that got no answer. */
  failed(cause: unknown): void
  /** Notes that the service breaks off an answer that has begun. The answer to the client is broken off next. */
  broken(cause: unknown): void
  /** Answers a request whose answer cannot be relayed. */
  unrelayable(problem: string): void
}

/**
 * Passes an answer on as it arrives, at the pace of the client. If the service breaks off, so does the answer; if the client leaves, the call
 * is broken off. A class, because every request has one: undici's `request` would add a stream and an abort signal to each.
 */
class Relay implements Dispatcher.DispatchHandler {
  readonly target: string
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #relaying: Relaying
  readonly #signal: Signal
  #abort: ((reason: Error) => void) | undefined
  #hasBegun = false
  /** The head goes with the first piece of the body. */
  #isHeadHeld = false
  #isOver = false

  constructor(request: IncomingMessage, response: ServerResponse, relaying: Relaying) {
    this.target = request.url ?? ''
    this.#request = request
    this.#response = response
    this.#relaying = relaying
    this.#signal = new AnswerSignal(response)
    this.#signal.addEventListener('abort', this)
  }

  /** The client is gone, or its body did not arrive. */
  handleEvent(): void {
    this.#abort?.(this.#signal.reason as Error)
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort
    this.#relaying.connected?.()
    if (this.#signal.aborted) this.handleEvent()
    // It waited too long for a connection, and was answered.
    else if (this.#response.writableEnded) abort(new Error('answered'))
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void, reason: string): boolean {
    if (isInterim(status)) return true
    const response = this.#response
    this.#relaying.begins?.()
    const problem = status < 200 ? `its status ${status}` : this.#give({ status, reason, headers: endToEndRaw(headers.map(latin1)) })
    if (problem !== undefined) {
      const abort = this.#abort
      this.#over()
      this.#relaying.unrelayable(problem)
      abort?.(new Error(problem))
      return false
    }
    this.#hasBegun = true
    this.#isHeadHeld = true
    response.on('error', nothing).on('drain', resume)
    // What came with the head is passed on before.
    process.nextTick(sendHead, this)
    return true
  }

  /** Sends a head whose body has not begun: a client of an event stream waits for it. */
  sendHead(): void {
    if (this.#isHeadHeld && !this.#isOver) this.#response.flushHeaders()
  }

  #give(head: Head): string | undefined {
    const { status, reason, headers } = this.#relaying.head(head)
    // A connection of HTTP/1.1 cannot be used again before the body of its request has arrived.
    const closing = this.#request.complete ? [] : ['connection', 'close']
    return writeHead(this.#response, { status, reason, headers: [...headers, ...closing] })?.problem
  }

  /** Node joins the head with a text, and with nothing else. A letter for each byte says any bytes. */
  onData(piece: Buffer): boolean {
    const response = this.#response
    this.#isHeadHeld = false
    if (response.destroyed) return true
    return piece.length > SHORT_TEXT ? response.write(piece) : response.write(piece.toString('latin1'), 'latin1')
  }

  onComplete(): void {
    this.#over()
    // Over HTTP/1.1, an end beside the last piece would be joined with it in new memory.
    process.nextTick(end, this.#response)
  }

  onError(error: Error): void {
    if (this.#isOver) return
    this.#over()
    if (this.#hasBegun) {
      this.#relaying.broken(error)
      this.#response.destroy()
    } else this.#relaying.failed(error)
  }

  #over(): void {
    this.#isOver = true
    this.#signal.removeEventListener('abort', this)
    this.#abort = undefined
  }
}

/** Nobody asks a service to switch protocols here, so a 101 is the answer itself. */
function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101
}

const latin1 = (bytes: Buffer) => bytes.toString('latin1')

/** Every stream of an exchange says its end by `close` as well. */
function nothing(): void {}

function end(response: ServerResponse): void {
  response.end()
}

function sendHead(relay: Relay): void {
  relay.sendHead()
}

function hasBody({ method, headers }: FastifyRequest): boolean {
  const framed = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return framed && method !== 'GET' && method !== 'HEAD'
}

/** Drops `Expect`: our server has answered it, and undici refuses to send it. */
function requestHeaders<T>(headers: Readonly<Record<string, T>>, id: string, withBody: boolean) {
  const kept: Record<string, T | string | undefined> = endToEnd(headers)
  kept['x-request-id'] = id
  kept['expect'] = undefined
  if (!withBody) kept['content-length'] = undefined
  return kept
}

/** What follows for the passthrough while a read is carried. */
interface ReadSteps {
  connected(): void
  /** Carries the request by another client, because v2 sent a `100 Continue` that nobody asked for. undici takes that for an error. */
  again(): void
}

/** Carries GET requests of v2's own API without a body. undici takes less CPU time than Node's own client: 216 µs a request in place of 304 for http-proxy-3 alone (`npm run bench -- passing`). */
function createReads({ base, connectionMs, ...pooled }: PassthroughSettings, fail: Failed) {
  const pool = createPool({ ...pooled, connectTimeoutMs: connectionMs, callTimeoutMs: 0 })
  const { origin, prefix } = placeOf(base)
  return {
    get(request: IncomingMessage, response: ServerResponse, { connected, again }: ReadSteps): void {
      const relay = new Relay(request, response, {
        connected,
        head: asIs,
        failed(cause) {
          if (response.headersSent) return
          const { message, code } = cause as NodeJS.ErrnoException
          if (message === 'bad response') again()
          else if (message === 'bad upgrade') fail(response, unrelayable('v2', 'its status 101, which nobody asked for'), BAD_GATEWAY)
          else if (code === 'UND_ERR_INVALID_ARG') fail(response, unwritable(cause))
          else fail(response, fromTransport(cause))
        },
        broken: (cause) => fail(response, fromTransport(cause)),
        unrelayable: (problem) => fail(response, unrelayable('v2', problem), BAD_GATEWAY),
      })
      const options = { origin, path: prefix + relay.target, method: 'GET', headers: nativeHeaders(request.headers) } as const
      pool.dispatch(options, relay)
    },
    close: () => void pool.destroy(),
  }
}

const asIs = (head: Head) => head

/** Drops what ends at this hop. */
function nativeHeaders(headers: IncomingHttpHeaders): string[] {
  const kept: string[] = []
  const ends = endsHere(headers.connection)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !OURS.has(name) && !ends(name)) kept.push(name, value as string)
  }
  return kept
}

const OURS: ReadonlySet<string> = new Set(['host', 'expect', 'content-length'])

/** A body of no bytes may be announced. */
function isBare({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

const LENGTH_REQUIRED = 411

interface PassthroughParts {
  readonly forwarded: Forwarded
  readonly metrics: Pick<RequestMetrics, 'unrelayable' | 'watchWebSockets'>
  readonly log: Logger
}

interface PassthroughSettings extends NativeSettings, WebSocketLimits {
  /** Milliseconds to connect to v2; after that v2 has no limit. */
  readonly connectionMs: number
}

export type Passthrough = ReturnType<typeof createPassthrough>

/** Carries everything that is not v1: native v2 calls, uploads, WebSockets. */
export function createPassthrough(settings: PassthroughSettings, { forwarded, metrics, log }: PassthroughParts) {
  const exchanges = new WeakMap<ServerResponse, RequestRecord>()
  const fail = (response: ServerResponse, error: ApiError, status?: number) => {
    const record = exchanges.get(response)
    if (record) record.error = error
    if (isUnrelayable(error)) metrics.unrelayable('native')
    refuse(response, error, status)
  }
  const native = createNative(settings, fail)
  const reads = createReads(settings, fail)
  const waits = createDeadlines(settings.connectionMs)
  const webSockets = createWebSockets(native, settings, fail)
  const webSocketEnded = createWebSocketLog(log, forwarded)
  metrics.watchWebSockets(webSockets.count)
  const carry = (request: FastifyRequest, response: ServerResponse, record: RequestRecord) => {
    const handshake = handshakeOf(request.raw)
    if (handshake) webSockets.open(request.raw, response, handshake, (end) => webSocketEnded(request.raw, record, end))
    else if (isUnframable(request.raw)) fail(response, lengthRequired(request.raw), LENGTH_REQUIRED)
    else {
      const waiting = { late: () => fail(response, noConnection(settings.connectionMs)) }
      const connected = () => waits.forget(waiting)
      waits.watch(waiting)
      whenClosed(response, { over: connected, next: undefined })
      const carried = () => native.web(request.raw, response, connected)
      if (isBare(request.raw)) reads.get(request.raw, response, { connected, again: carried })
      else carried()
    }
  }
  return {
    /** Passes a request to v2 without looking at its content. */
    serve(request: FastifyRequest, reply: FastifyReply, record: RequestRecord): void {
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
    close(): void {
      native.close()
      reads.close()
    },
  }
}

function noConnection(ms: number): ApiError {
  return new ApiError('UNAVAILABLE', `no connection to the v2 service became free within limits.deadlineMs (${ms})`)
}

function lengthRequired(request: IncomingMessage): ApiError {
  const message = 'a DELETE or OPTIONS request with a body needs a content-length header'
  return new ApiError('INVALID_ARGUMENT', message, { headers: closing(request) })
}
