import type { Dispatcher } from 'undici'
import type { Signal } from '../limits/signal.ts'
import { type AskRestSettings, createSent, headOf, type RawRequest, type RestHead } from './ask-rest.ts'
import { fromV1Transport } from './ask-v1.ts'
import { parseHeaders } from './undici.ts'

/** An answer of v1 that no client gets. */
export interface ReadAnswer extends RestHead {
  /** `pieces` is undefined if the body has more bytes than were asked for. `broken`: the connection broke before its end. */
  readonly body: { readonly pieces: readonly Buffer[] | undefined; readonly broken: boolean }
  /** Bytes of the pieces. */
  readonly size: number
}

/** Sends a request to the v1 service once and reads at most `limit` bytes of its answer. Rejects with an ApiError if no answer arrives. */
export type ReadV1 = (request: RawRequest, limit: number, signal: Signal) => Promise<ReadAnswer>

/** Reads with a handler of its own: undici's `request` would add a stream and an abort signal to each. */
export function createReadV1({ pool, ...place }: Omit<AskRestSettings, 'service'>): ReadV1 {
  const sent = createSent(place)
  return (request, limit, signal) =>
    new Promise((landed, failed) => {
      if (signal.aborted) failed(fromV1Transport(signal.reason))
      else pool.dispatch(sent(request), new Reading({ limit, signal, landed, failed }))
    })
}

interface Waiting {
  readonly limit: number
  readonly signal: Signal
  readonly landed: (answer: ReadAnswer) => void
  readonly failed: (error: unknown) => void
}

/** Collects one answer. A connection keeps the handler of its last request; the handler therefore drops everything at the end. */
class Reading implements Dispatcher.DispatchHandler {
  #waiting: Waiting | undefined
  #abort: ((reason?: Error) => void) | undefined
  #head: RestHead | undefined
  #pieces: Buffer[] = []
  #size = 0
  readonly #limit: number

  constructor(waiting: Waiting) {
    this.#waiting = waiting
    this.#limit = waiting.limit
    waiting.signal.addEventListener('abort', this)
  }

  /** The signal fired. */
  handleEvent(): void {
    const reason = this.#waiting?.signal.reason as Error
    const abort = this.#abort
    this.onError(reason)
    abort?.(reason)
  }

  /** Called before anything is sent. */
  onConnect(abort: (reason?: Error) => void): void {
    if (this.#waiting) this.#abort = abort
    else abort()
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    // A head that is not the last one says nothing.
    if (status < 200) return true
    const named = parseHeaders(headers) as Record<string, string | string[]>
    this.#head = headOf('v1', status, named)
    if (Number(named['content-length'] ?? 0) > this.#limit) this.#tooLarge()
    return true
  }

  onData(piece: Buffer): boolean {
    this.#size += piece.length
    if (this.#size > this.#limit) this.#tooLarge()
    else this.#pieces.push(piece)
    return true
  }

  onComplete(): void {
    this.#end(this.#pieces)
  }

  onError(error: Error): void {
    if (this.#head) this.#end([], true)
    else this.#taken()?.failed(fromV1Transport(error))
  }

  #tooLarge(): void {
    const abort = this.#abort
    this.#end(undefined)
    abort?.(new Error('the answer is larger than what is read of it'))
  }

  #end(pieces: readonly Buffer[] | undefined, broken = false): void {
    const size = pieces && pieces.length > 0 ? this.#size : 0
    if (this.#head) this.#taken()?.landed({ ...this.#head, body: { pieces, broken }, size })
  }

  /** Returns who waits, once. */
  #taken(): Waiting | undefined {
    const waiting = this.#waiting
    waiting?.signal.removeEventListener('abort', this)
    this.#waiting = undefined
    this.#abort = undefined
    this.#pieces = []
    return waiting
  }
}
