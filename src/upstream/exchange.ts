import type { Agent, Dispatcher } from 'undici'
import { fromTransport } from '../errors/from-v2.ts'
import { decode, tooLarge } from './decode.ts'
import { textOfPieces } from './utf8.ts'

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
  readonly text: string
}

/** Who waits for work that has begun is told one of the two, once. */
export interface Landing<T> {
  landed(answer: T): void
  failed(error: Error): void
}

/** Gives up work that has begun: `failed` is told this reason. Without effect once it is over. */
export type Cancel = (reason: Error) => void

/** Failures of a connection, as opposed to those of a request. */
const CONNECTION_FAILURES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/**
 * One request and its whole answer. A read is made once more when its connection failed; a write never is (design §6). It gathers the
 * answer in a handler of its own: undici's `request` would put a stream, and an abort signal, around every answer.
 */
export function exchange(pool: Agent, request: Exchange, landing: Landing<RawAnswer>): Cancel {
  let given: Error | undefined
  let connection: Dispatcher.DispatchController | undefined
  // A connection keeps the handler of its last request: whoever is told is forgotten.
  let waiting: Landing<RawAnswer> | undefined = landing
  const begin = (controller: Dispatcher.DispatchController) => {
    connection = controller
    if (given) controller.abort(given)
  }
  const landed = (answer: RawAnswer) => {
    const told = waiting
    waiting = undefined
    connection = undefined
    told?.landed(answer)
  }
  const refuse = (error: unknown) => {
    const told = waiting
    waiting = undefined
    told?.failed(fromTransport(error))
  }
  const attempt = (failed: (error: Error) => void) => void pool.dispatch(request, gather(request.answerBytes, begin, landed, failed))
  attempt((error) => {
    if (request.method === 'GET' && isConnectionFailure(error) && !given) attempt(refuse)
    else refuse(error)
  })
  return (reason) => {
    given = reason
    refuse(reason)
    connection?.abort(reason)
  }
}

function ignore(): void {}

function isConnectionFailure(error: Error): boolean {
  return CONNECTION_FAILURES.has((error as { code?: string }).code ?? '')
}

/**
 * Collects an answer of at most `answerBytes` bytes. `begin` comes before anything is sent, and again on another connection. A connection
 * keeps the handler of its last request, so that the handler must not keep the answer.
 */
function gather(
  answerBytes: number,
  begin: (controller: Dispatcher.DispatchController) => void,
  answered: (answer: RawAnswer) => void,
  failed: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let status = 0
  let headers: RawAnswer['headers'] = {}
  let pieces: Buffer[] = []
  let bytes = 0
  let resolve: typeof answered = answered
  let reject: typeof failed = failed
  const forget = () => {
    pieces = []
    resolve = ignore
    reject = ignore
  }
  return {
    onRequestStart: begin,
    onResponseStart(_, statusCode, answerHeaders) {
      status = statusCode
      headers = answerHeaders
    },
    onResponseData(controller, piece) {
      bytes += piece.length
      if (bytes > answerBytes) return controller.abort(tooLarge(answerBytes))
      pieces.push(piece)
    },
    onResponseEnd() {
      const encoding = headers['content-encoding']
      if (encoding === undefined || bytes === 0) resolve({ status, headers, text: textOfPieces(pieces, bytes) })
      else decode(Buffer.concat(pieces, bytes), String(encoding), answerBytes).then(decodedTo(resolve, status, headers), reject)
      forget()
    },
    onResponseError(_, error) {
      reject(error)
      forget()
    },
  }
}

function decodedTo(resolve: (answer: RawAnswer) => void, status: number, headers: RawAnswer['headers']) {
  return (bytes: Buffer) => resolve({ status, headers, text: bytes.toString('utf8') })
}
