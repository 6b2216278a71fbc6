import { addAbortSignal, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { ApiError } from '../errors/api-error.ts'
import type { Answer } from '../translate/execute.ts'
import { errorText } from './refusal.ts'

/** As v1 has it (facts §15); text instead of bytes would make Fastify add a charset. */
const JSON_TYPE = 'application/json'

/**
 * Writes an answer. A streamed one follows the client's pace, and its failure destroys the connection (design §4): Fastify does so for
 * any stream that breaks after its first byte. `signal` ends it even while it waits for the client.
 */
export function sendAnswer(reply: FastifyReply, answer: Answer, signal: AbortSignal): FastifyReply {
  reply.code(answer.status).headers(answer.headers).header('content-type', JSON_TYPE)
  if ('stream' in answer) return reply.send(addAbortSignal(signal, Readable.from(answer.stream)))
  return reply.send(Buffer.from(JSON.stringify(answer.body)))
}

export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  return reply
    .code(error.http)
    .headers(error.headers)
    .header('content-type', JSON_TYPE)
    .send(Buffer.from(errorText(error)))
}
