import type { ServerResponse } from 'node:http'
import { addAbortSignal, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { ApiError, asApiError, type ErrorForm } from '../errors.ts'
import { abortSignalOf, type Signal } from '../limits/signal.ts'
import type { RequestRecord } from '../serve/request-record.ts'
import { SHORT_TEXT } from '../tables/text/engine.ts'
import type { Answer } from '../translate/answer.ts'
import { lengthOf } from '../translate/written.ts'
import type { RawHeaders } from './announce.ts'
import { giveTaken, givingBack } from './give-back.ts'
import { errorText, refuse } from './refusal.ts'

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
  const body = 'written' in answer ? answer.written : textOf(answer.body)
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

/** JSON.stringify fails only on excessive nesting: members of a user's map come from v2 unchanged. */
function textOf(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    throw new ApiError('INTERNAL', 'the v2 service sent an answer that is nested too deeply', { cause })
  }
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
