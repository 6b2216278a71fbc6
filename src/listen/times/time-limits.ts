import { createChain } from './chain.ts'
import { type Coming, type Going, WatchedAnswer } from './watched-answer.ts'

/** Time limits of a client in milliseconds. They may change. */
export interface ClientTimes {
  /** For the whole body of a request. */
  readonly bodyMs: number
  /** For the client to take a piece of an answer: 16 KiB or more of a large answer. */
  readonly writeMs: number
}

/** Ends what a slow client blocks. */
export interface Ends<Request, Response> {
  /** The body is late: sends that as the answer, or breaks off the answer that has begun. */
  late(response: Response): void
  /** The answer is complete and the body is not: ends the connection, or its stream. */
  close(request: Request): void
  /** Ends an answer that its client does not take. */
  breakOff(response: Going): void
  /** Counts a client that was cut off. */
  cut(why: Cut): void
}

/** The part that a client took too long for. */
export type Cut = 'body' | 'write'

export interface TimeLimits<Request, Response> {
  /** Watches a request until both directions have ended; `request` is undefined if it has no body. */
  watch(response: Response, request: Request | undefined): void
  /** Watches a stream of messages, which have no time limit. */
  watchStream(response: Going, request: Request): void
}

/** Milliseconds between two checks, and for the rest of a body after its answer. */
const LOOK_EVERY = 250
const REST_MS = 500

/**
 * Cuts off clients that send a body for ever or never read their answer, so that their places become free.
 * A check of all requests four times a second costs less than timers for each. `now` is a monotonic clock in milliseconds.
 */
export function createTimeLimits<Request extends Coming, Response extends Going>(
  times: ClientTimes,
  ends: Ends<Request, Response>,
  now: () => number,
): TimeLimits<Request, Response> {
  const all = createChain<WatchedAnswer>()
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
  /** Cuts off what took too long; true if nothing is left to watch. */
  const isOver = (watched: WatchedAnswer, at: number): boolean => {
    const { request, response } = watched
    if (watched.stalledFor(at) >= times.writeMs) {
      ends.cut('write')
      ends.breakOff(response)
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
    all.add(new WatchedAnswer(response, request, now(), ms, all))
    if (!waits) lookSoon()
  }
  return {
    watch: (response, request) => watch(response, request, times.bodyMs),
    watchStream: (response, request) => watch(response, request, Number.POSITIVE_INFINITY),
  }
}
