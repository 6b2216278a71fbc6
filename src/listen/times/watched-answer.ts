import { type OnClose, whenClosed } from '../on-close.ts'
import type { Chain, Link } from './chain.ts'

/** What a request tells of its body. */
export interface Coming {
  readonly complete: boolean
}

/** What an answer tells of itself; a response of HTTP/1.1 or HTTP/2, or a bare stream. */
export interface Going {
  readonly writableLength: number
  readonly writableEnded: boolean
  on(event: 'close', listener: () => void): unknown
  once(event: 'drain', listener: () => void): unknown
  /** Breaks the answer off. */
  destroy(): unknown
}

/** One request and its answer. A class, because there is one for every request. */
export class WatchedAnswer implements OnClose, Link<WatchedAnswer> {
  next: OnClose | undefined
  older: WatchedAnswer | undefined
  newer: WatchedAnswer | undefined
  readonly response: Going
  readonly request: Coming | undefined
  /** Milliseconds, of a clock and for its body. */
  readonly since: number
  readonly bodyMs: number
  isOver: boolean
  /** Since when the client owes the rest of its body for an answer that is over. */
  answeredAt: number | undefined
  /** Since when nothing was taken. */
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

  /** Milliseconds since the whole answer was handed over, or the connection was; 0 before that. */
  answeredFor(at: number): number {
    const { writableEnded, writableLength } = this.response
    if (this.isOver || (writableEnded && writableLength === 0)) this.answeredAt ??= at
    return this.answeredAt === undefined ? 0 : at - this.answeredAt
  }

  /** Milliseconds for which nothing of what is written was taken. */
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
