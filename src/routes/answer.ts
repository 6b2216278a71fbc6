import type { OutgoingHttpHeaders } from 'node:http'
import { addAbortSignal, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { ApiError } from '../errors/api-error.ts'
import type { Answer } from '../modes/backend.ts'
import { abortSignalOf, type Signal } from '../upstream/signal.ts'
import { errorText } from './refusal.ts'

/** As v1 has it (facts §15); text instead of bytes would make Fastify add a charset. */
const JSON_TYPE = 'application/json'

/**
 * Writes an answer. A streamed one follows the client's pace, and its failure destroys the connection (design §4): Fastify does so for
 * any stream that breaks after its first byte. `signal` ends it even while it waits for the client.
 */
export function sendAnswer(reply: FastifyReply, answer: Answer, signal: Signal): FastifyReply {
  if ('stream' in answer && answer.text === undefined) {
    reply.code(answer.status).header('content-type', JSON_TYPE).headers(answer.headers)
    return reply.send(addAbortSignal(abortSignalOf(signal), Readable.from(answer.stream)))
  }
  return sendText(reply, answer.status, answer.headers, 'stream' in answer ? (answer.text ?? '') : textOf(answer.body))
}

/** Depth is the one thing that cannot be written: members of a user's map come from v2 as they are. */
function textOf(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    throw new ApiError('INTERNAL', 'the v2 service sent an answer that is nested too deeply', { cause })
  }
}

/** From so many characters a text is better sent as bytes: they lie outside the heap while they wait for the client. */
const LARGE = 16 * 1024

/** Writes head and body at once, a small body as text: Node then needs one write for both, which is what a small answer costs most. */
function sendText(reply: FastifyReply, status: number, headers: Answer['headers'], text: string): FastifyReply {
  reply.hijack()
  const body = text.length < LARGE ? text : Buffer.from(text)
  const given = reply.getHeaders() as OutgoingHttpHeaders
  const own = { ...headers, 'content-type': JSON_TYPE, 'content-length': Buffer.byteLength(body) }
  reply.raw.writeHead(status, { ...given, ...own }).end(body)
  return reply
}

export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  return reply
    .code(error.http)
    .headers(error.headers)
    .header('content-type', JSON_TYPE)
    .send(Buffer.from(errorText(error)))
}
