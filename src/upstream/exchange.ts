import type { Agent, Dispatcher } from 'undici'
import { fromTransport } from '../errors/from-v2.ts'
import { decode, tooLarge } from './decode.ts'

export interface Exchange {
  readonly origin: string
  readonly path: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly headers: Record<string, string>
  readonly body?: string
  readonly answerBytes: number
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly bytes: Buffer
}

/** Work that has begun and can be given up; `done` then rejects. */
export interface Underway<T> {
  readonly done: Promise<T>
  /** Gives it up for this reason; without effect once it is over. */
  cancel(reason: Error): void
}

/** Failures of a connection, as opposed to those of a request. */
const CONNECTION_FAILURES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/**
 * One request and its whole answer. A read is made once more when its connection failed; a write never is (design §6). It gathers the
 * answer in a handler of its own: undici's `request` would put a stream, and an abort signal, around every answer.
 */
export function exchange(pool: Agent, request: Exchange): Underway<RawAnswer> {
  let given: Error | undefined
  let connection: Dispatcher.DispatchController | undefined
  let refuse = (_: unknown) => {}
  const begin = (controller: Dispatcher.DispatchController) => {
    connection = controller
    if (given) controller.abort(given)
  }
  const done = new Promise<RawAnswer>((resolve, reject) => {
    refuse = (error) => reject(fromTransport(error))
    const attempt = (failed: (error: Error) => void) => pool.dispatch(request, gather(request.answerBytes, begin, resolve, failed))
    attempt((error) => {
      if (request.method === 'GET' && isConnectionFailure(error) && !given) attempt(refuse)
      else refuse(error)
    })
  })
  const cancel = (reason: Error) => {
    given = reason
    refuse(reason)
    connection?.abort(reason)
  }
  return { done, cancel }
}

function isConnectionFailure(error: Error): boolean {
  return CONNECTION_FAILURES.has((error as { code?: string }).code ?? '')
}

/** Collects an answer of at most `answerBytes` bytes. `begin` comes before anything is sent, and again on another connection. */
function gather(
  answerBytes: number,
  begin: (controller: Dispatcher.DispatchController) => void,
  resolve: (answer: RawAnswer) => void,
  reject: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let status = 0
  let headers: RawAnswer['headers'] = {}
  const chunks: Buffer[] = []
  let bytes = 0
  return {
    onRequestStart: begin,
    onResponseStart(_, statusCode, answerHeaders) {
      status = statusCode
      headers = answerHeaders
    },
    onResponseData(controller, chunk) {
      bytes += chunk.length
      if (bytes > answerBytes) return controller.abort(tooLarge(answerBytes))
      chunks.push(chunk)
    },
    onResponseEnd() {
      const [first] = chunks
      const all = chunks.length === 1 && first ? first : Buffer.concat(chunks, bytes)
      const encoding = headers['content-encoding']
      if (encoding === undefined || all.length === 0) resolve({ status, headers, bytes: all })
      else decode(all, String(encoding), answerBytes).then((decoded) => resolve({ status, headers, bytes: decoded }), reject)
    },
    onResponseError: (_, error) => reject(error),
  }
}
