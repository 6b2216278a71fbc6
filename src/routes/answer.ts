import type { ServerResponse } from 'node:http'
import { addAbortSignal, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { Answer } from '../translate/answer.ts'
import { abortSignalOf, type Signal } from '../upstream/signal.ts'
import type { RawHeaders } from './announce.ts'
import { errorText, refuse } from './refusal.ts'

/** As v1 has it (facts §15); text instead of bytes would make Fastify add a charset. */
const JSON_TYPE = 'application/json'

/** What the answer to one request carries, whoever gives it. */
export interface Envelope {
  /** The request's id. */
  readonly id: string
  readonly announced: RawHeaders
}

/**
 * Writes an answer. A streamed one follows the client's pace, and its failure destroys the connection (design §4): Fastify does so for
 * any stream that breaks after its first byte. `signal` ends it even while it waits for the client.
 */
export function sendAnswer(reply: FastifyReply, envelope: Envelope, answer: Answer, signal: Signal): FastifyReply | undefined {
  if ('stream' in answer) {
    reply.code(answer.status).header('content-type', JSON_TYPE).headers(answer.headers)
    return reply.send(addAbortSignal(abortSignalOf(signal), Readable.from(answer.stream)))
  }
  const body = 'written' in answer ? answer.written : textOf(answer.body)
  const length = typeof body === 'string' ? Buffer.byteLength(body) : lengthOf(body)
  const headers = ['x-request-id', envelope.id, 'content-type', JSON_TYPE, 'content-length', String(length), ...envelope.announced]
  for (const name in answer.headers) headers.push(name, String(answer.headers[name]))
  reply.hijack()
  const response = reply.raw.writeHead(answer.status, headers)
  const version = reply.request.raw.httpVersionMajor
  if (typeof body === 'string') sendText(response, body, length === body.length ? 'latin1' : 'utf8', version)
  else if (length <= SHORT_TEXT) sendText(response, latin1Of(body), 'latin1', version)
  else sendPieces(response, body)
  return undefined
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}

/** In bytes: a longer text lies better outside the heap while it waits for its client. */
const SHORT_TEXT = 16 * 1024

/** A letter for each byte: Node puts a text into one piece with the head, but writes a buffer as a piece of its own. */
function latin1Of(pieces: readonly Buffer[]): string {
  let text = ''
  for (const piece of pieces) text += piece.toString('latin1')
  return text
}

/** Writes head and body at once. */
function sendPieces(response: ServerResponse, pieces: readonly Buffer[]): void {
  response.cork()
  for (const piece of pieces) response.write(piece)
  response.uncork()
  process.nextTick(end, response)
}

/** Depth is the one thing that cannot be written: members of a user's map come from v2 as they are. */
function textOf(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    throw new ApiError('INTERNAL', 'the v2 service sent an answer that is nested too deeply', { cause })
  }
}

/**
 * Writes head and body at once. Over HTTP/1.1 that happens when the end comes a moment later than the body; otherwise Node would add an
 * empty piece for the end and put the pieces together in memory of their own, which is what a small answer would cost most. Plain ASCII
 * goes as Latin-1, which needs no second look at the text.
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

/** Answers with an error, also where an answer was taken from Fastify and could not be begun. */
export function sendError(reply: FastifyReply, error: ApiError, status: number = error.http): FastifyReply {
  if (reply.sent) {
    if (!reply.raw.headersSent) refuse(reply.raw, error, status)
    return reply
  }
  return reply
    .code(status)
    .headers(error.headers)
    .header('content-type', JSON_TYPE)
    .send(Buffer.from(errorText(error)))
}

/** The same answer; whatever breaks its stream off, be it v2 or the signal, is recorded before it breaks the connection. */
export function watched(answer: Answer, signal: Signal, failed: (error: ApiError) => void): Answer {
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
