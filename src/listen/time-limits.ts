import { type Chain, createChain, type Link } from './chain.ts'
import { type Over, whenOver } from './over.ts'

/** How long a client may take; in milliseconds. */
export interface ClientTimes {
  /** For the whole body of a request. */
  readonly bodyMs: number
  /** For a piece of an answer to be taken; of a large answer that is 16 KiB or more. */
  readonly writeMs: number
}

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

/** Ends what a client holds up. */
export interface Ends<Request, Response> {
  /** The body did not come in time: answers so, or breaks off what has begun. */
  late(response: Response): void
  /** The answer is over and the body is not: ends the connection, or the stream of it. */
  close(request: Request): void
  /** Counts what was cut off. */
  cut(why: Cut): void
}

/** What a client took too long for. */
export type Cut = 'body' | 'write'

export interface TimeLimits<Request, Response> {
  /** Watches a request until both directions are over; `request` is undefined when it has no body. */
  watch(response: Response, request: Request | undefined): void
  /** The same for a stream of messages, which may come for as long as they like. */
  watchStream(response: Going, request: Request): void
}

/** Milliseconds between two looks, and for the rest of a body to come once its answer is over. */
const LOOK_EVERY = 250
const REST_MS = 500

/**
 * Gives back every place that a client takes: who sends a body for ever, or never reads its answer, is cut off. A look at all of them four
 * times a second costs less than timers for each. `now` is a monotonic clock in milliseconds.
 */
export function createTimeLimits<Request extends Coming, Response extends Going>(
  { bodyMs, writeMs }: ClientTimes,
  ends: Ends<Request, Response>,
  now: () => number,
): TimeLimits<Request, Response> {
  const all = createChain<Watched>()
  let waits = false

  const lookSoon = () => {
    waits = all.oldest() !== undefined
    if (waits) setTimeout(look, LOOK_EVERY).unref()
  }
  const look = () => {
    const at = now()
    for (let watched = all.oldest(), newer = watched?.newer; watched; watched = newer, newer = watched?.newer) {
      if (isOver(watched, at)) all.remove(watched)
    }
    lookSoon()
  }
  /** Cuts off what took too long; true when there is nothing left to watch. */
  const isOver = (watched: Watched, at: number): boolean => {
    const { request, response } = watched
    if (watched.stalledFor(at) >= writeMs) {
      ends.cut('write')
      response.destroy()
      return true
    }
    if (request?.complete !== false) return watched.isOver
    if (watched.answeredFor(at) >= REST_MS) {
      ends.close(request as Request)
      return true
    }
    if (watched.answeredAt === undefined && at - watched.since >= watched.bodyMs) {
      ends.cut('body')
      ends.late(response as Response)
    }
    return false
  }
  const watch = (response: Going, request: Coming | undefined, ms: number) => {
    all.add(new Watched(response, request, now(), ms, all))
    if (!waits) lookSoon()
  }
  return {
    watch: (response, request) => watch(response, request, bodyMs),
    watchStream: (response, request) => watch(response, request, Number.POSITIVE_INFINITY),
  }
}

/** One request and its answer. A class, because there is one for every request. */
class Watched implements Over, Link<Watched> {
  next: Over | undefined
  older: Watched | undefined
  newer: Watched | undefined
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
  readonly #all: Chain<Watched>

  constructor(response: Going, request: Coming | undefined, since: number, bodyMs: number, all: Chain<Watched>) {
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
    whenOver(response, this)
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
