import type { Agent } from 'undici'
import { ApiError } from '../errors/api-error.ts'
import { fromTransport } from '../errors/from-v2.ts'

export interface Exchange {
  readonly origin: string
  readonly path: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  readonly answerBytes: number
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** Failures of a connection, as opposed to those of a request. */
const CONNECTION_FAILURES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** One request and its whole answer. A read is made once more when its connection failed; a write never is (design §6). */
export async function exchange(pool: Agent, request: Exchange): Promise<RawAnswer> {
  try {
    return await once(pool, request)
  } catch (error) {
    const failed = CONNECTION_FAILURES.has((error as { code?: string }).code ?? '')
    if (request.method !== 'GET' || !failed || request.signal.aborted) throw fromTransport(error)
  }
  try {
    return await once(pool, request)
  } catch (error) {
    throw fromTransport(error)
  }
}

async function once(pool: Agent, { answerBytes, body, ...request }: Exchange): Promise<RawAnswer> {
  const answer = await pool.request({ ...request, body: body ?? null })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > answerBytes) throw tooLarge(answerBytes)
    chunks.push(chunk)
  }
  return { status: answer.statusCode, headers: answer.headers, text: Buffer.concat(chunks).toString('utf8') }
}

function tooLarge(limit: number): ApiError {
  return new ApiError('INTERNAL', `the v2 service sent an answer of more than limits.answerBytes (${limit})`)
}
