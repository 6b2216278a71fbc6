import { createChain } from './chain.ts'
import { type Coming, type Going, WatchedAnswer } from './watched-answer.ts'

/** How long a client may take; in milliseconds. */
export interface ClientTimes {
  /** For the whole body of a request. */
  readonly bodyMs: number
  /** For a piece of an answer to be taken; of a large answer that is 16 KiB or more. */
  readonly writeMs: number
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
  /** Cuts off what took too long; true when there is nothing left to watch. */
  const isOver = (watched: WatchedAnswer, at: number): boolean => {
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
    all.add(new WatchedAnswer(response, request, now(), ms, all))
    if (!waits) lookSoon()
  }
  return {
    watch: (response, request) => watch(response, request, bodyMs),
    watchStream: (response, request) => watch(response, request, Number.POSITIVE_INFINITY),
  }
}
