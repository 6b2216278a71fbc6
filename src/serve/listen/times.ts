import { executionAsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../../errors.ts'
import { createBucket } from '../bounds.ts'
import { Firing, type OnClose, type Signal, whenClosed } from '../signals.ts'

/** The kept objects; one is enough for the process. */
export const keptTicks: object[] = []

/**
 * Keeps one of the objects that Node makes for every `process.nextTick`, about ten for a request. V8 forgets the shape of objects if a
 * collection finds none alive. Ordinary code learns a shape anew. These objects come from a literal with computed names (Node's
 * lib/internal/process/task_queues.js), which then uses V8's slow runtime for the rest of the process's life. Without this, every other
 * start of the proxy needed 10 to 15 % more CPU time a request, permanently.
 */
export function keepTickShape(): void {
  if (keptTicks.length === 0) process.nextTick(() => keptTicks.push(executionAsyncResource()))
}

/** A member of a chain. It holds its own place among the others. */
export interface Link<T> {
  older?: T | undefined
  newer?: T | undefined
}

/** Members in the order of their arrival. Each can leave at any time for two assignments; a Set would hash it twice. */
interface Chain<T extends Link<T>> {
  oldest(): T | undefined
  add(link: T): void
  /** No effect if it has already left. */
  remove(link: T): void
}

function createChain<T extends Link<T>>(): Chain<T> {
  let oldest: T | undefined
  let newest: T | undefined
  return {
    oldest: () => oldest,
    add(link) {
      link.older = newest
      if (newest) newest.newer = link
      else oldest = link
      newest = link
    },
    remove(link) {
      const { older, newer } = link
      if (older) older.newer = newer
      else if (oldest === link) oldest = newer
      if (newer) newer.older = older
      else if (newest === link) newest = older
      link.older = undefined
      link.newer = undefined
    },
  }
}

/** Something that may be late. */
export interface Deadline extends Link<Deadline> {
  late(): void
  due?: number
}

export type Deadlines = ReturnType<typeof createDeadlines>

/**
 * Watches many things with the same time limit. One timer for all: whatever began first is due first. Every request has a deadline and hardly one reaches it.
 * A timer for each would be created and discarded. `ms` is the time limit in milliseconds.
 */
export function createDeadlines(ms: number) {
  const all = createChain<Deadline>()
  let waits = false

  const wait = () => {
    const oldest = all.oldest()
    waits = oldest !== undefined
    if (oldest) setTimeout(look, Math.max(1, dueOf(oldest) - performance.now())).unref()
  }
  const look = () => {
    const now = performance.now()
    for (let oldest = all.oldest(); oldest && dueOf(oldest) <= now; oldest = all.oldest()) {
      all.remove(oldest)
      oldest.late()
    }
    wait()
  }
  return {
    ms,
    forget: all.remove,
    /** Calls the watched when its time is over, unless it is forgotten earlier. */
    watch(watched: Deadline): void {
      watched.due = performance.now() + ms
      all.add(watched)
      if (!waits) wait()
    },
  }
}

function dueOf({ due = 0 }: Deadline): number {
  return due
}

/** The state of a request's body. */
export interface Coming {
  readonly complete: boolean
  /** Bytes of messages that a relayed stream has moved, in both directions together. */
  readonly moved?: number
}

/** The state of an answer: a response of HTTP/1.1 or HTTP/2, or a bare stream. */
export interface Going {
  readonly writableLength: number
  readonly writableEnded: boolean
  readonly writableFinished?: boolean
  on(event: 'close', listener: () => void): unknown
  once(event: 'drain', listener: () => void): unknown
}

/** The property of an answer under which what watches it is found. */
const WATCHED = Symbol('watched answer')

type Known = Going & { [WATCHED]?: WatchedAnswer }

/**
 * One request and its answer. As a signal it fires when the client goes away, or when the whole request takes too long. It is a class because
 * every request has one.
 */
class WatchedAnswer extends Firing implements OnClose, Link<WatchedAnswer> {
  next: OnClose | undefined
  older: WatchedAnswer | undefined
  newer: WatchedAnswer | undefined
  readonly response: Going
  readonly request: Coming | undefined
  /** When the request began, in milliseconds. */
  readonly since: number
  /** What bounds a bare stream. */
  kind: StreamKind | undefined
  /** What a stream had moved, and when. */
  lookedAt: number
  moved: number
  isOver: boolean
  /** Somebody waits for the signal (`signalOf`). */
  isSignal: boolean
  /** When the answer ended without the rest of the client's body. */
  answeredAt: number | undefined
  /** When the client stopped reading. */
  #stalledAt: number | undefined
  #hears: boolean
  readonly #all: Chain<WatchedAnswer>

  constructor(response: Going, request: Coming | undefined, since: number, kind: StreamKind | undefined, all: Chain<WatchedAnswer>) {
    super()
    this.next = undefined
    this.older = undefined
    this.newer = undefined
    this.response = response
    this.request = request
    this.since = since
    this.kind = kind
    this.lookedAt = since
    this.moved = 0
    this.isOver = false
    this.isSignal = false
    this.answeredAt = undefined
    this.#stalledAt = undefined
    this.#hears = false
    this.#all = all
    const known: Known = response
    known[WATCHED] = this
    whenClosed(response, this)
    all.add(this)
  }

  over(): void {
    this.isOver = true
    if (this.request?.complete !== false) this.#all.remove(this)
    if (!this.isSignal) return
    this.isSignal = false
    // It fires after the others have heard that the answer is over: what they count and log is not an error that this makes.
    if (!this.response.writableFinished) whenClosed(this.response, { over: () => this.abort(gone()), next: undefined })
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

/** Time limits of a client in milliseconds. They may change. */
export interface ClientTimes {
  /** For the whole body of a request. */
  readonly bodyMs: number
  /** For the client to take a piece of an answer: 16 KiB or more of a large answer. */
  readonly writeMs: number
  /** For a whole request that is translated, and a whole call of one message that is relayed. */
  readonly callMs: number
  /** A stream of messages moves at least so many bytes in so many milliseconds; 0 bytes: no least. */
  readonly streamBytes: number
  readonly streamMs: number
}

/**
 * What bounds a bare stream: `free` only what it is served by, `body` the time for its body, `call` also the time for the whole call, and
 * `stream` the bytes that it moves.
 */
type StreamKind = 'free' | 'body' | 'call' | 'stream'

/** Ends what a slow client blocks. */
export interface Ends<Request, Response> {
  /** A time is over, or the place is given up: sends that as the answer, or breaks off the answer that has begun. */
  late(response: Response, why: Late): void
  /** The answer is complete and the body is not: ends the connection, or its stream. */
  close(request: Request): void
  /** Ends an answer that its client does not take. */
  breakOff(response: Going): void
  /** Counts a client that was cut off. */
  cut(why: Cut): void
  /** True if the request has no credential. */
  isAnonymous(request: Request): boolean
}

/** Why a request ends before its answer. */
export type Late = 'body' | 'call' | 'stream' | 'place'

/** The part that a client took too long for; `place`: somebody with a credential needed its place. */
export type Cut = Late | 'write'

export interface TimeLimits<Request, Response> {
  /** Watches a request until both directions have ended; `request` is undefined if it has no body. */
  watch(response: Response, request: Request | undefined): void
  /** Returns the signal of a request: it fires when the client goes away, or when the whole request takes longer than `callMs`. */
  signalOf(response: Response): Signal
  /** Watches a bare stream, which is free until its kind is known. */
  watchStream(response: Going, request: Request): Pick<WatchedAnswer, 'kind'>
  /** Ends the oldest request without a credential whose body has not arrived. Returns false if there is none. */
  giveUpOne(): boolean
}

/** Milliseconds between two checks, and for the rest of a body after its answer. */
const LOOK_EVERY = 250
const REST_MS = 500

/**
 * Cuts off clients that send a body for ever or never read their answer, so that their places become free.
 * A check of all requests four times a second costs less than timers for each.
 */
export function createTimeLimits<Request extends Coming, Response extends Going>(
  times: ClientTimes,
  ends: Ends<Request, Response>,
): TimeLimits<Request, Response> {
  const all = createChain<WatchedAnswer>()
  let waits = false
  /** Until then nobody looks for a place to give up: the last look found none. */
  let noneUntil = 0

  const lookSoon = () => {
    waits = all.oldest() !== undefined
    if (waits) setTimeout(look, LOOK_EVERY).unref()
  }
  const look = () => {
    const at = performance.now()
    for (let watched = all.oldest(), newer = watched?.newer; watched; watched = newer, newer = watched?.newer) {
      if (isOver(watched, at)) all.remove(watched)
    }
    lookSoon()
  }
  /** Cuts off what took too long; true if nothing is left to watch. */
  const isOver = (watched: WatchedAnswer, at: number): boolean => {
    const { request, response, kind } = watched
    if (watched.stalledFor(at) >= times.writeMs) {
      ends.cut('write')
      ends.breakOff(response)
      return true
    }
    if (kind !== undefined) watched.answeredFor(at)
    if (kind === 'call' && isGoingOn(watched) && at - watched.since >= times.callMs) return end(watched, 'call')
    if (kind === 'stream' && isGoingOn(watched) && isSlow(watched, at)) return end(watched, 'stream')
    if (request?.complete !== false) return watched.isOver
    if (watched.answeredFor(at) >= REST_MS) {
      ends.close(request as Request)
      return true
    }
    if (isGoingOn(watched) && at - watched.since >= (isTimed(kind) ? times.bodyMs : Number.POSITIVE_INFINITY)) return end(watched, 'body')
    return false
  }
  /** It stays watched: the rest of its body has a time of its own. */
  const end = (watched: WatchedAnswer, why: Late): false => {
    ends.cut(why)
    ends.late(watched.response as Response, why)
    return false
  }
  const isSlow = (watched: WatchedAnswer, at: number): boolean => {
    if (at - watched.lookedAt < times.streamMs) return false
    const { moved = 0 } = watched.request ?? {}
    const isFew = moved - watched.moved < times.streamBytes
    watched.lookedAt = at
    watched.moved = moved
    return isFew
  }
  const watch = (response: Going, request: Coming | undefined, kind?: StreamKind) => {
    const watched = new WatchedAnswer(response, request, performance.now(), kind, all)
    if (!waits) lookSoon()
    return watched
  }
  let waitsForDue = false
  /** What began first is due first. One timer serves all, because hardly a request reaches its deadline. */
  const fireDue = () => {
    let watched = all.oldest()
    for (
      let newer = watched?.newer;
      watched && watched.since + times.callMs <= performance.now();
      watched = newer, newer = watched?.newer
    ) {
      if (!watched.isSignal) continue
      watched.isSignal = false
      watched.abort(tooLong(times))
    }
    while (watched && !watched.isSignal) watched = watched.newer
    waitsForDue = watched !== undefined
    if (watched) waitForDue(watched)
  }
  const waitForDue = ({ since }: WatchedAnswer) => void setTimeout(fireDue, Math.max(1, since + times.callMs - performance.now())).unref()
  const canBeGivenUp = (watched: WatchedAnswer) =>
    watched.request?.complete === false && isGoingOn(watched) && ends.isAnonymous(watched.request as Request)
  return {
    watch,
    signalOf(response) {
      const { [WATCHED]: known }: Known = response
      const watched = known ?? watch(response, undefined)
      watched.isSignal = true
      if (!waitsForDue) waitForDue(watched)
      waitsForDue = true
      return watched
    },
    watchStream: (response, request) => watch(response, request, 'free'),
    giveUpOne() {
      if (performance.now() < noneUntil) return false
      let watched = all.oldest()
      while (watched && !canBeGivenUp(watched)) watched = watched.newer
      if (watched) {
        watched.answeredAt = performance.now()
        end(watched, 'place')
      } else noneUntil = performance.now() + LOOK_EVERY
      return watched !== undefined
    },
  }
}

function isGoingOn({ answeredAt, isOver }: WatchedAnswer): boolean {
  return answeredAt === undefined && !isOver
}

/** True if the body has a time: that of a request, and of a call of one message. */
function isTimed(kind: StreamKind | undefined): boolean {
  return kind !== 'free' && kind !== 'stream'
}

interface RestedConnectionsSettings {
  /** The number of connections that may resume in a second; 0 = connections never rest. */
  readonly perSecond: number
  /** Milliseconds after which a connection resumes in any case. */
  readonly longestMs: number
}

/** Connections that were refused and are not read for a while. */
export type RestedConnections = ReturnType<typeof createRestedConnections>

/** Milliseconds between two checks for connections to resume. */
const REST_LOOK_MS = 5

/** After a pause, as many refusals without a rest are allowed as fit into this part of a second. */
const BURST = 0.1

/**
 * Reading a request and writing a refusal costs Node a large part of an answer. Clients that retry at once, whatever `retry-after` says,
 * would leave little for the others. Their connections therefore wait unread, in the order of their refusals, and resume at a limited
 * rate. Their requests meanwhile stay with the operating system. `now` is a monotonic clock in milliseconds.
 */
export function createRestedConnections({ perSecond, longestMs }: RestedConnectionsSettings, now: () => number) {
  const resting = new Map<Socket, number>()
  const most = Math.max(1, perSecond * BURST)
  const turns = createBucket({ most, fillMs: (1000 * most) / perSecond }, now)
  let ended = perSecond === 0
  let waits = false

  const hear = (socket: Socket) => {
    resting.delete(socket)
    handleOf(socket)?.readStart()
  }
  const lookSoon = () => {
    waits = resting.size > 0
    if (waits) setTimeout(look, REST_LOOK_MS).unref()
  }
  const look = () => {
    for (const [socket, since] of resting) {
      if (!turns.take() && now() - since < longestMs) break
      hear(socket)
    }
    lookSoon()
  }
  return {
    /** Lets a connection rest, unless refusals were so rare lately that its next request costs nothing. */
    refused(socket: Socket): void {
      if (ended || resting.has(socket)) return
      if (resting.size === 0 && turns.take()) return
      const handle = handleOf(socket)
      if (!handle) return
      handle.readStop()
      resting.set(socket, now())
      if (!waits) lookSoon()
    },
    /** Resumes all connections; none rests any more. */
    end(): void {
      ended = true
      for (const socket of resting.keys()) hear(socket)
    },
  }
}

/** The object that a socket of Node reads from. */
export interface Handle {
  /** Bytes that the system has not taken yet. */
  readonly writeQueueSize?: number
  readStart(): number
  readStop(): number
}

/**
 * Node passes the bytes of an HTTP/1.1 connection from this handle to the parser, not through the socket.
 * `pause` has no effect on them, and Node offers no other way. Requests over HTTP/2 share their connection with others, so it never rests.
 */
export function handleOf(socket: Socket): Handle | undefined {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Partial<Handle> | null }
  return handle?.readStop && handle.readStart ? (handle as Handle) : undefined
}

/**
 * Fires when the client goes away before its answer is complete.
 * Fastify's `request.signal` is unusable: it fires as soon as a body has been read (design §6.5).
 */
export class ClientSignal extends Firing implements OnClose {
  next: OnClose | undefined
  protected readonly response: ServerResponse

  constructor(response: ServerResponse) {
    super()
    this.next = undefined
    this.response = response
    whenClosed(response, this)
  }

  over(): void {
    if (!this.response.writableFinished) this.abort(gone())
  }
}

const gone = () => new ApiError('CANCELLED', 'the client went away')

/**
 * Fires when an answer ends before its exchange is complete: the client went away, or its body did not arrive and the service must not wait
 * for it. An exchange that ends well fires nothing, because an error for each request would cost a tenth of its work.
 */
export class AnswerSignal extends ClientSignal {
  override over(): void {
    if (!this.response.writableFinished || !this.response.req.complete) this.abort(new ApiError('CANCELLED', 'the answer is over'))
  }
}

function tooLong({ callMs }: ClientTimes): ApiError {
  return new ApiError('DEADLINE_EXCEEDED', `the request took longer than limits.deadlineMs (${callMs}) allows`)
}
