import { type OnClose, whenClosed } from '../../relay/on-close.ts'
import type { Chain, Link } from './chain.ts'

/** The state of a request's body. */
export interface Coming {
  readonly complete: boolean
}

/** The state of an answer: a response of HTTP/1.1 or HTTP/2, or a bare stream. */
export interface Going {
  readonly writableLength: number
  readonly writableEnded: boolean
  on(event: 'close', listener: () => void): unknown
  once(event: 'drain', listener: () => void): unknown
}

/** One request and its answer. It is a class because every request has one. */
export class WatchedAnswer implements OnClose, Link<WatchedAnswer> {
  next: OnClose | undefined
  older: WatchedAnswer | undefined
  newer: WatchedAnswer | undefined
  readonly response: Going
  readonly request: Coming | undefined
  /** In milliseconds: when the request began, and the time for its body. */
  readonly since: number
  readonly bodyMs: number
  isOver: boolean
  /** When the answer ended without the rest of the client's body. */
  answeredAt: number | undefined
  /** When the client stopped reading. */
  #stalledAt: number | undefined
  #hears: boolean
  readonly #all: Chain<WatchedAnswer>

  constructor(response: Going, request: Coming | undefined, since: number, bodyMs: number, all: Chain<WatchedAnswer>) {
    this.next = undefined
    this.older = undefined
    this.newer = undefined
    this.response = response
    this.request = request
    this.since = since
    this.bodyMs = bodyMs
    this.isOver = false
    this.answeredAt = undefined
    this.#stalledAt = undefined
    this.#hears = false
    this.#all = all
    whenClosed(response, this)
  }

  over(): void {
    this.isOver = true
    if (this.request?.complete !== false) this.#all.remove(this)
  }

  /** Milliseconds since the whole answer or the connection was handed over; 0 before that. */
  answeredFor(at: number): number {
    const { writableEnded, writableLength } = this.response
    if (this.isOver || (writableEnded && writableLength === 0)) this.answeredAt ??= at
    return this.answeredAt === undefined ? 0 : at - this.answeredAt
  }

  /** Milliseconds for which the client has taken nothing that was written. */
  stalledFor(at: number): number {
    if (this.isOver || this.response.writableLength === 0) this.#stalledAt = undefined
    else if (this.#stalledAt === undefined) {
      this.#stalledAt = at
      this.#hearDrain()
    }
    return this.#stalledAt === undefined ? 0 : at - this.#stalledAt
  }

  #hearDrain(): void {
    if (this.#hears) return
    this.#hears = true
    this.response.once('drain', () => {
      this.#hears = false
      this.#stalledAt = undefined
    })
  }
}
