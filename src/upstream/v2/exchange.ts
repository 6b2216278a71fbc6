import type { Agent, Dispatcher } from 'undici'
import { fromTransport } from '../../errors.ts'
import { parseHeaders } from '../undici.ts'
import { type AnswerRoom, takeHead, takePiece } from './answer-room.ts'
import { decodeWithin, headerOf, lengthOf, tooLarge } from './decode.ts'
import type { Landing, Underway } from './flights/landing.ts'

/** Milliseconds until the head and between two pieces of the body; null leaves them to the pool. */
export interface Exchange extends Pick<Dispatcher.DispatchOptions, 'headersTimeout' | 'bodyTimeout'> {
  readonly origin: string
  readonly path: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Alternating names and values. */
  readonly headers: string[]
  readonly body?: string
  readonly answerBytes: number
  /** Bounds this answer together with others. */
  readonly room?: AnswerRoom | undefined
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body as received. Several requests may share it, so it must not be modified. */
  readonly pieces: readonly Buffer[]
}

/**
 * Makes one request and reads its whole answer. A read is repeated once if its connection failed; a write never is (design §6).
 * Our own handler collects the answer: undici's `request` would add a stream and an abort signal to each.
 */
export function exchange(pool: Agent, request: Exchange, landing: Landing<RawAnswer>): Underway {
  const gathering = new Gathering(pool, request, landing)
  pool.dispatch(request, gathering)
  return gathering
}

/** An answer as received. Its headers are parsed on demand only, because they are rarely needed. */
class Arrived implements RawAnswer {
  readonly status: number
  readonly pieces: readonly Buffer[]
  readonly #headers: Buffer[]

  constructor(status: number, headers: Buffer[], pieces: readonly Buffer[]) {
    this.status = status
    this.pieces = pieces
    this.#headers = headers
  }

  get headers(): RawAnswer['headers'] {
    return parseHeaders(this.#headers)
  }
}

const NONE: Buffer[] = []

/**
 * Collects an answer of at most `answerBytes` bytes. One object with methods for each call costs a third of the same functions as
 * closures. undici's newer handlers wrap this kind and get every header as an object. A connection keeps the handler of its last request;
 * the handler therefore drops the answer and its listener at the end.
 */
class Gathering implements Dispatcher.DispatchHandler, Underway {
  readonly #pool: Agent
  readonly #request: Exchange
  #landing: Landing<RawAnswer> | undefined
  #abort: ((reason: Error) => void) | undefined
  #given: Error | undefined
  #mayRepeat: boolean
  #status = 0
  #headers = NONE
  #pieces: Buffer[] = []
  #bytes = 0

  constructor(pool: Agent, request: Exchange, landing: Landing<RawAnswer>) {
    this.#pool = pool
    this.#request = request
    this.#landing = landing
    this.#mayRepeat = request.method === 'GET'
  }

  /** Called before anything is sent, and again on another connection. */
  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort
    if (this.#given) abort(this.#given)
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    this.#status = status
    this.#headers = headers
    const { room, answerBytes } = this.#request
    if (room && !takeHead(room, lengthOf(headers))) this.#abort?.(tooLarge(answerBytes))
    return true
  }

  onData(piece: Buffer): boolean {
    this.#bytes += piece.length
    const { room, answerBytes } = this.#request
    const hasRoom = this.#bytes <= answerBytes && (!room || takePiece(room, piece))
    if (!hasRoom) this.#abort?.(tooLarge(answerBytes))
    else this.#pieces.push(piece)
    return true
  }

  onComplete(): void {
    const status = this.#status
    const headers = this.#headers
    const encoding = headerOf(headers, 'content-encoding')
    if (encoding === undefined || this.#bytes === 0) this.#land(new Arrived(status, headers, this.#pieces))
    else {
      const decoded = decodeWithin(this.#request, Buffer.concat(this.#pieces, this.#bytes), encoding)
      decoded.then(
        (bytes) => this.#land(new Arrived(status, headers, [bytes])),
        (error) => this.#refuse(error),
      )
    }
    this.#headers = NONE
    this.#pieces = []
  }

  onError(error: Error): void {
    const repeat = this.#mayRepeat && !this.#given && CONNECTION_FAILURES.has((error as { code?: string }).code ?? '')
    this.#mayRepeat = false
    this.#pieces = []
    this.#bytes = 0
    if (repeat) this.#pool.dispatch(this.#request, this)
    else this.#refuse(error)
  }

  cancel(reason: Error): void {
    this.#given = reason
    this.#refuse(reason)
    this.#abort?.(reason)
  }

  #land(answer: RawAnswer): void {
    const landing = this.#landing
    this.#landing = undefined
    this.#abort = undefined
    landing?.landed(answer)
  }

  #refuse(error: unknown): void {
    const landing = this.#landing
    this.#landing = undefined
    landing?.failed(fromTransport(error))
  }
}

/** Failures of a connection, not of a request. */
const CONNECTION_FAILURES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
