import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addAbortSignal, Readable, type Writable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, asApiError, type ErrorForm, STATUS_FORM } from '../../errors.ts'
import { jsonTextOf } from '../../tables/json.ts'
import { needsV1 } from '../../tables/query.ts'
import { ROWS_MEMORY, SHORT_TEXT } from '../../tables/text/engine.ts'
import { type Answer, lengthOf } from '../answer.ts'
import type { Room } from '../bounds.ts'
import type { Core, KnownRead, RequestRecord } from '../core.ts'
import { clientSignal, createRequestSignals } from '../listen/times.ts'
import { type BodyLimits, type ClientRequest, createReadBytes, createRequest, takesBody } from '../request.ts'
import { isFound, type Routed } from '../route.ts'
import { type AnswerDecision, choose, count, type Decision, respond, type Writer } from '../serve.ts'
import type { Side } from '../sides.ts'
import { abortSignalOf, type Signal, whenClosed } from '../signals.ts'
import type { Tracing } from '../watch/spans.ts'
import type { RawHeaders } from './app.ts'
import type { V1Carrier } from './carriers.ts'
import type { Forwarded } from './forwarded.ts'

/** Writes the v1 body of an error whose field names need no translation (facts §15). */
export function errorText({ code, http, message, details }: ApiError, { write }: ErrorForm = STATUS_FORM): string {
  return JSON.stringify(write({ code, http, message, details }).body)
}

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
  const text = errorText(error)
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
  const text = errorText(error)
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
interface Taker extends Pick<Writable, 'writableLength'> {
  readonly stream?: { readonly destroyed: boolean }
}

/**
 * Gives back the memory of pieces that the response has passed to the system. If its stream of HTTP/2 was broken off, it does not: what Node has
 * begun to send of them still goes out on the connection, and Node reports them as passed on.
 */
export function giveTaken(pieces: readonly Uint8Array[], { stream }: Taker): void {
  if (!stream?.destroyed) for (const piece of pieces) ROWS_MEMORY.give(piece)
}

/**
 * Yields the pieces of an answer, and gives the memory of those back that the response has passed to the system. A reader that waits for
 * one piece at most may not have written the last one yet, so that one is kept.
 */
export async function* givingBack(stream: AsyncIterable<Uint8Array>, response: Taker): AsyncGenerator<Uint8Array> {
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

/** The parts of an answer that do not depend on its author. */
export interface Envelope {
  /** The id of the request. */
  readonly id: string
  readonly announced: RawHeaders
}

/**
 * Writes an answer. A stream follows the client's pace. Its failure destroys the connection (design §4):
 * Fastify does that for every stream that breaks after its first byte. `signal` ends a stream even while it waits for the client.
 * `isOwn`: nobody else reads the answer, so that its memory may be used again.
 */
export function sendAnswer(
  reply: FastifyReply,
  envelope: Envelope,
  answer: Answer,
  signal: Signal,
  isOwn = false,
): FastifyReply | undefined {
  if ('stream' in answer) {
    reply.code(answer.status).header('content-type', JSON_TYPE).headers(answer.headers)
    return reply.send(addAbortSignal(abortSignalOf(signal), Readable.from(answer.stream, ONE_AHEAD)))
  }
  const body = 'written' in answer ? answer.written : jsonTextOf(answer.body)
  const isLatin1 = 'written' in answer
  const length = typeof body !== 'string' || isLatin1 ? lengthOf(body) : Buffer.byteLength(body)
  const headers = ['x-request-id', envelope.id, 'content-type', JSON_TYPE, 'content-length', String(length), ...envelope.announced]
  for (const name in answer.headers) headers.push(name, String(answer.headers[name]))
  reply.hijack()
  const response = reply.raw.writeHead(answer.status, headers)
  if (typeof body !== 'string') sendPieces(response, body, isOwn)
  else sendText(response, body, isLatin1 || length === body.length ? 'latin1' : 'utf8', reply.request.raw.httpVersionMajor)
  return undefined
}

/** Writes head and body at once. Own pieces are given back as soon as the socket has taken them. */
function sendPieces(response: ServerResponse, pieces: readonly Buffer[], areOwn: boolean): void {
  response.cork()
  for (const piece of pieces) response.write(piece, areOwn ? () => giveTaken([piece], response) : undefined)
  response.uncork()
  process.nextTick(end, response)
}

/**
 * Writes head and body at once. Over HTTP/1.1, `end` comes a moment after the body.
 * Otherwise Node would add an empty piece for the end and join the pieces in new memory, the largest cost of a small answer.
 * Plain ASCII is sent as Latin-1, which saves a second pass over the text.
 */
function sendText(response: ServerResponse, text: string, encoding: 'latin1' | 'utf8', version: number): void {
  if (text.length > SHORT_TEXT) response.end(Buffer.from(text, encoding))
  else if (version > 1) response.end(text, encoding)
  else {
    response.write(text, encoding)
    process.nextTick(end, response)
  }
}

function end(response: ServerResponse): void {
  response.end()
}

/** Answers with an error, even if an answer was taken from Fastify and could not begin. */
export function sendError(reply: FastifyReply, error: ApiError, status: number = error.http, errors?: ErrorForm): FastifyReply {
  if (reply.sent) {
    if (!reply.raw.headersSent) refuse(reply.raw, error, status)
    return reply
  }
  return reply
    .code(status)
    .headers(error.headers)
    .header('content-type', JSON_TYPE)
    .send(Buffer.from(errorText(error, errors)))
}

/** Returns the same answer for this response, but records what breaks its stream, v2 or the signal, before the connection breaks. */
export function watched(
  answer: Extract<Answer, { stream: unknown }>,
  signal: Signal,
  record: Pick<RequestRecord, 'error'>,
  response: ServerResponse,
): Answer {
  const { stream } = answer
  async function* observed() {
    try {
      yield* givingBack(stream, response)
    } catch (thrown) {
      record.error = asApiError(signal.aborted ? signal.reason : thrown)
      throw thrown
    }
  }
  return { status: answer.status, headers: answer.headers, stream: observed() }
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
        .catch((thrown) => refuseRequest(http, thrown))
    } else answerWith(http, decision, undefined, signal)
    return undefined
  }
  const answerWith = (http: Http, decision: AnswerDecision, body: Buffer | undefined, signal: Signal) => {
    const { reply, record } = http
    const client = v1 ? clientSignal(reply.raw) : signal
    const request = requestOf(http, decision, body, { client, signal })
    respond(core, { decision, request, record }, new HttpWriter(http, request, announced))
  }
  return (request, reply, path, record, known) => {
    record.span = tracing?.begin(request.raw.headers)
    if (v1) forwarded.rewrite(request.raw)
    const http = { reply, record, errors: core.settings.errors }
    try {
      const decision = choose(core, request.raw, path, record, known)
      countWhenOver(core, decision, http)
      return decision.kind === 'answer' ? answer(http, decision) : passOn(request, http, decision)
    } catch (thrown) {
      return refuseRequest(http, thrown)
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

function refuseRequest({ reply, record, errors }: Http, thrown: unknown): FastifyReply {
  record.error = asApiError(thrown)
  return sendError(reply, record.error, record.error.http, errors)
}

function countWhenOver(core: Core, decision: Decision, { reply, record }: Http): void {
  const response: ServerResponse = reply.raw
  const over = () => {
    const status = response.headersSent ? response.statusCode : undefined
    count(core, decision, { head: reply.request.raw, record, status })
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
    refuseRequest(this.#http, thrown)
  }
}
