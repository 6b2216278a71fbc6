import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addAbortSignal, Readable, type Writable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, asApiError, type ErrorForm, written } from '../../errors.ts'
import { jsonTextOf } from '../../tables/json.ts'
import { needsV1 } from '../../tables/query.ts'
import { ROWS_MEMORY, SHORT_TEXT } from '../../tables/text/engine.ts'
import { type Answer, lengthOf } from '../answer.ts'
import type { Budget } from '../bounds.ts'
import type { Core, KnownRead, RequestRecord } from '../core.ts'
import { ClientSignal, type TimeLimits } from '../listen/times.ts'
import { type BodyLimits, type ClientRequest, createReadBytes, createRequest, takesBody } from '../request.ts'
import { isFound, type Routed } from '../route.ts'
import { type AnswerDecision, choose, count, type Decision, respond, type Writer } from '../serve.ts'
import type { Side } from '../sides.ts'
import { abortSignalOf, type OnClose, type Signal, whenClosed } from '../signals.ts'
import type { Tracing } from '../watch/spans.ts'
import type { RawHeaders } from './app.ts'
import type { V1Carrier } from './carriers.ts'
import type { Forwarded } from './forwarded.ts'

/** Answers with an error without Fastify. If an answer has begun, breaks it off so that no client takes it for complete. */
export function refuse(response: ServerResponse, error: ApiError, status: number = error.http): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  refusing(error, status)(response)
}

/** Writes one error once, for many answers that have not begun. */
export function refusing(error: ApiError, status: number = error.http): (response: ServerResponse) => void {
  const text = JSON.stringify(written(error).body)
  const given = Object.entries(error.headers).flat()
  const headers = [...given, 'content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))]
  return (response) => void response.writeHead(status, headers).end(text)
}

/** Answers with an error on a bare socket and closes it. */
export function refuseSocket(socket: Socket, error: ApiError, status = `${error.http} ${error.code}`): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const text = JSON.stringify(written(error).body)
  const given = Object.entries(error.headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const head = `HTTP/1.1 ${status}\r\n${given}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n`
  socket.end(head + text)
}

/** Refuses an `Expect` header other than 100-continue (RFC 9110 §10.1.1). */
export function refuseExpectation(_: IncomingMessage, response: ServerResponse): void {
  const message = 'the expect header can only be 100-continue'
  refuse(response, new ApiError('INVALID_ARGUMENT', message, { headers: { connection: 'close' } }), 417)
}

/** The answer of v1's gateway to an unknown path, and to a known path with another method (facts §15). */
export const notFound = (): ApiError => new ApiError('NOT_FOUND', 'Not Found')
const methodNotAllowed = (): ApiError => new ApiError('UNIMPLEMENTED', 'Method Not Allowed')

/** The error if no service can answer. For an operation that v2 lacks, it says what would let a v1 service answer. */
export function unserved(routed: Routed): ApiError {
  if (!isFound(routed)) return routed.match === 'other-method' ? methodNotAllowed() : notFound()
  const { id, because = '' } = routed.match.operation
  return new ApiError('UNIMPLEMENTED', `${id} ${needsV1(because)}`)
}

/** An answer; over HTTP/2 it has a stream. */
interface Sink extends Pick<Writable, 'writableLength'> {
  readonly stream?: { readonly destroyed: boolean }
}

/**
 * Gives back the memory of pieces that the response has passed to the system. If its stream of HTTP/2 was broken off, it does not: what Node has
 * begun to send of them still goes out on the connection, and Node reports them as passed on.
 */
function giveTaken(pieces: readonly Uint8Array[], { stream }: Sink): void {
  if (!stream?.destroyed) for (const piece of pieces) ROWS_MEMORY.give(piece)
}

/**
 * Yields the pieces of an answer, and gives the memory of those back that the response has passed to the system. A reader that waits for
 * one piece at most may not have written the last one yet, so that one is kept.
 */
export async function* givingBack(stream: AsyncIterable<Uint8Array>, response: Sink): AsyncGenerator<Uint8Array> {
  const yielded: Uint8Array[] = []
  for await (const piece of stream) {
    if (response.writableLength === 0) giveTaken(yielded.splice(0, yielded.length - 1), response)
    yielded.push(piece)
    yield piece
  }
}

/** The type without a charset, as in v1 (facts §15). Fastify would add a charset to text. */
const JSON_TYPE = 'application/json'

/** One piece of a stream waits for the client, as `givingBack` expects. */
const ONE_AHEAD = { objectMode: true, highWaterMark: 1 }

/** Writes head and body at once. Own pieces are given back as soon as the socket has taken them. */
function sendPieces(response: ServerResponse, pieces: readonly Buffer[], areOwn: boolean): void {
  response.cork()
  for (const piece of pieces) response.write(piece, areOwn ? () => giveTaken([piece], response) : undefined)
  response.uncork()
  process.nextTick(end, response)
}

function end(response: ServerResponse): void {
  response.end()
}

/** Answers with an error, even if an answer was taken from Fastify and could not begin. */
export function sendError(reply: FastifyReply, error: ApiError, status?: number, errors?: ErrorForm): FastifyReply {
  if (reply.sent) {
    if (!reply.raw.headersSent) refuse(reply.raw, error, status)
    return reply
  }
  const answer = written(error, errors)
  return reply
    .code(status ?? answer.status)
    .headers({ 'content-type': JSON_TYPE, ...answer.headers })
    .send(Buffer.from(JSON.stringify(answer.body)))
}

/** Takes the headers of an answer back that breaks before its first byte: its coding, age and cookies are not those of the error. */
function takeBack(reply: FastifyReply, headers: Answer['headers']): void {
  const { raw: response } = reply
  if (response.headersSent) return
  for (const name in headers) {
    if (name === 'x-request-id') continue
    reply.removeHeader(name)
    response.removeHeader(name)
  }
  // To remove a date means to send none.
  response.sendDate = true
}

/** Yields the pieces of a stream for this response. Records what breaks it, its side or the signal, before the connection breaks. */
async function* watched(
  stream: AsyncIterable<Uint8Array>,
  by: Side,
  signal: Signal,
  record: Pick<RequestRecord, 'error'>,
  response: ServerResponse,
): AsyncGenerator<Uint8Array> {
  try {
    // Only rows of v2 lie in memory that is used again.
    yield* by === 'v1' ? stream : givingBack(stream, response)
  } catch (thrown) {
    record.error = asApiError(signal.aborted ? signal.reason : thrown)
    throw thrown
  }
}

/** Serves one v1 request over HTTP; `path` is decoded, `known` is the meaning of its URL if that was requested before. */
export type Compat = (
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  record: RequestRecord,
  known: KnownRead | undefined,
) => FastifyReply | undefined

export interface CompatParts {
  readonly core: Core
  /** Undefined when no v1 upstream is configured. */
  readonly v1: V1Carrier | undefined
  readonly forwarded: Forwarded
  readonly announced: RawHeaders
  /** Undefined when traces are not sent. */
  readonly tracing: Tracing | undefined
  /** The budget that the bodies of all requests share. */
  readonly budget: Budget
  readonly limits: BodyLimits
  /** Returns the signal of a request, which its deadline fires too. */
  readonly signalOf: TimeLimits<never, ServerResponse>['signalOf']
}

/** Creates the v1 surface over HTTP. It decides about a request, then passes it on or answers it. */
export function createCompat({ core, v1, forwarded, announced, tracing, budget, limits, signalOf }: CompatParts): Compat {
  const readBytes = createReadBytes(limits, budget)
  const { errors } = core.settings
  return (request, reply, path, record, known) => {
    record.span = tracing?.begin(request.raw.headers)
    if (v1) forwarded.rewrite(request.raw)
    try {
      const decision = choose(core, request.raw, path, record, known)
      const response = reply.raw
      const served = new ServedRequest(core, decision, reply, record, announced)
      if (decision.kind === 'answer') {
        const signal = signalOf(response)
        const client = v1 ? new ClientSignal(response) : signal
        if (known || !takesBody(decision.routed)) served.answer(decision, undefined, client, signal)
        else {
          readBytes(response, signal)
            .then((body) => served.answer(decision, body, client, signal))
            .catch((thrown) => served.failed(thrown))
        }
        return undefined
      }
      if (!v1) throw unserved(decision.routed)
      v1(request, reply, record)
      record.asked = true
      return undefined
    } catch (thrown) {
      return refuseRequest(reply, record, thrown, errors)
    }
  }
}

function refuseRequest(reply: FastifyReply, record: RequestRecord, thrown: unknown, errors: ErrorForm | undefined): FastifyReply {
  record.error = asApiError(thrown)
  return sendError(reply, record.error, undefined, errors)
}

/** A v1 request over HTTP, from the decision about it to its end. A class, because every request has one. */
class ServedRequest implements Writer, OnClose {
  next: OnClose | undefined
  readonly #core: Core
  readonly #decision: Decision
  readonly #reply: FastifyReply
  readonly #record: RequestRecord
  readonly #announced: RawHeaders
  #request: ClientRequest | undefined

  constructor(core: Core, decision: Decision, reply: FastifyReply, record: RequestRecord, announced: RawHeaders) {
    this.next = undefined
    this.#core = core
    this.#decision = decision
    this.#reply = reply
    this.#record = record
    this.#announced = announced
    this.#request = undefined
    whenClosed(reply.raw, this)
  }

  /** Counts the request. */
  over(): void {
    const { raw: response, request } = this.#reply
    const status = response.headersSent ? response.statusCode : undefined
    count(this.#core, this.#decision, { head: request.raw, record: this.#record, status })
  }

  /** Throws the ApiError of an unreadable request. */
  answer(decision: AnswerDecision, body: Buffer | undefined, client: Signal, signal: Signal): void {
    const record = this.#record
    const { method = '', url = '', headers } = this.#reply.request.raw
    const { operation, raw, read } = createRequest(decision.routed, { id: record.id, method, url, headers, body }, decision.known?.request)
    const { caller, subject, credential } = decision.choice
    const request = { operation, raw, read, caller, subject, credential, client, signal }
    this.#request = request
    respond(this.#core, { decision, request, record }, this)
  }

  /**
   * Writes an answer: head and body at once. Over HTTP/1.1, `end` comes a moment after a short body. Otherwise Node would add an empty piece
   * for the end and join the pieces in new memory, the largest cost of a small answer. A stream follows the client's pace, and its failure
   * destroys the connection (design §4): Fastify does that for every stream that breaks after its first byte. A v1 answer may exceed the
   * request's deadline: only its client ends it.
   */
  write(answer: Answer, by: Side, isOwn: boolean): void {
    const reply = this.#reply
    try {
      if ('stream' in answer) {
        const until = (by === 'v1' ? this.#request?.client : this.#request?.signal) as Signal
        const stream = watched(answer.stream, by, until, this.#record, reply.raw)
        reply
          .code(answer.status)
          .headers({ ...(by === 'v2' && { 'content-type': JSON_TYPE }), ...answer.headers, 'x-request-id': this.#record.id })
        // The signal ends a stream even while it waits for the client.
        const body = addAbortSignal(abortSignalOf(until), Readable.from(stream, ONE_AHEAD))
        reply.send(body.once('error', () => takeBack(reply, answer.headers)))
        return
      }
      if (answer.status === 204) {
        const head = ['x-request-id', this.#record.id, ...this.#announced, ...Object.entries(answer.headers).flat()]
        reply.hijack()
        reply.raw.writeHead(204, head).end()
        return
      }
      const isLatin1 = 'text' in answer
      const body = isLatin1 ? answer.text : jsonTextOf(answer.body)
      const length = typeof body !== 'string' ? lengthOf(body) : isLatin1 ? body.length : Buffer.byteLength(body)
      const type = String(answer.headers['content-type'] ?? JSON_TYPE)
      const headers = ['x-request-id', this.#record.id, 'content-type', type, 'content-length', String(length), ...this.#announced]
      for (const name in answer.headers) if (name !== 'content-type') headers.push(name, String(answer.headers[name]))
      reply.hijack()
      const response = reply.raw.writeHead(answer.status, headers)
      if (typeof body !== 'string') {
        sendPieces(response, body, isOwn)
        return
      }
      // Plain ASCII is sent as Latin-1, which saves a second pass over the text.
      const encoding = isLatin1 || length === body.length ? 'latin1' : 'utf8'
      if (body.length > SHORT_TEXT) response.end(Buffer.from(body, encoding))
      else if (reply.request.raw.httpVersionMajor > 1) response.end(body, encoding)
      else {
        response.write(body, encoding)
        process.nextTick(end, response)
      }
    } catch (thrown) {
      this.failed(thrown)
    }
  }

  failed(thrown: unknown): void {
    refuseRequest(this.#reply, this.#record, thrown, this.#core.settings.errors)
  }
}
