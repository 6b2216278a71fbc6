import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { LRUCache } from 'lru-cache'
import { ApiError, askAgain, RETRY_AFTER } from '../../errors.ts'
import { type Bucket, createBucket, createBudget, entries } from '../bounds.ts'
import { breakOff } from '../listen/http2.ts'
import { type ClientTimes, type Cut, createTimeLimits, type Late, type RestedConnections, type TimeLimits } from '../listen/times.ts'
import { closing, credentialHash, REQUEST_TIMEOUT } from '../request.ts'
import { type Closing, whenClosed } from '../signals.ts'
import { refuse, refusing } from './v1-surface.ts'

/** Limits of admission, named as in the configuration; 0 = unlimited. They are read for each request, because they may change. */
export interface AdmissionLimits {
  /** Requests in flight from all callers together. */
  readonly requestsInFlight: number
  /** Requests in flight from one caller. */
  readonly callerInFlight: number
  /** Requests that one caller may begin in a second, and at once after a pause. */
  readonly callerPerSecond: number
}

/** The reason why a request, its body or its connection was refused, for counting. */
export type Refused = 'overload' | 'caller-in-flight' | 'caller-rate' | 'bodies' | 'connections'

/** The share of the requests in flight that those without a credential may be. The rest is for callers with one. */
const ANONYMOUS_SHARE = 3 / 4

/** Admits a request until its answer is complete, or returns the error to answer with. */
export type Admit = (request: Pick<IncomingMessage, 'headers'>, response: Closing) => ApiError | undefined

interface Caller {
  inFlight: number
  pace: Bucket | undefined
  /** The limit that its pace is made for. */
  perSecond: number
}

/** The number of callers whose rate is remembered. A forgotten caller begins with a full bucket. */
const REMEMBERED = 10_000

/**
 * Refuses requests at once that would only wait. Beyond a certain number in flight, more requests make every answer later and none sooner.
 * The limit is a count, not a measured delay of the event loop: a measurement is a sample and admits everything or nothing until the next
 * one. `now` is a monotonic clock in milliseconds, so changes of the system time have no effect. A request with a credential takes the place
 * of one without, whose body has not arrived: `giveUpOne` ends that, and returns false if there is none. Those without one hold a share only.
 */
export function createAdmission(
  limits: AdmissionLimits,
  refused: (why: Refused) => void,
  now: () => number,
  giveUpOne: () => boolean = () => false,
): Admit {
  const admitCaller = createCallers(limits, now)
  const overloadOf = createOverload((limit) => `more than limits.requestsInFlight (${limit}) requests are under way`)
  const anonymousOf = createOverload(
    (limit) => `requests without a credential take their share of limits.requestsInFlight (${limit}), three quarters`,
  )
  let inFlight = 0
  let anonymous = 0
  const leave = () => {
    inFlight -= 1
  }
  const leaveUnnamed = () => {
    inFlight -= 1
    anonymous -= 1
  }
  return (request, response) => {
    const { requestsInFlight, callerInFlight, callerPerSecond } = limits
    const { authorization } = request.headers
    if (requestsInFlight > 0 && inFlight >= requestsInFlight && !(authorization && giveUpOne())) {
      refused('overload')
      return overloadOf(requestsInFlight)
    }
    if (!authorization && requestsInFlight > 0 && anonymous >= Math.ceil(requestsInFlight * ANONYMOUS_SHARE)) {
      refused('overload')
      return anonymousOf(requestsInFlight)
    }
    const isCounted = callerInFlight > 0 || callerPerSecond > 0
    const caller = isCounted ? admitCaller(credentialHash(authorization)) : undefined
    if (caller && 'why' in caller) {
      refused(caller.why)
      return askAgain('RESOURCE_EXHAUSTED', caller.message, { seconds: caller.seconds })
    }
    inFlight += 1
    if (!authorization) anonymous += 1
    const left = authorization ? leave : leaveUnnamed
    whenClosed(response, { over: caller ? both(left, caller.leave) : left, next: undefined })
    return undefined
  }
}

/** Makes the error of an overload once for each limit. */
function createOverload(messageOf: (limit: number) => string): (limit: number) => ApiError {
  let known: { readonly limit: number; readonly error: ApiError } | undefined
  return (limit) => {
    if (known?.limit !== limit) {
      known = { limit, error: askAgain('UNAVAILABLE', messageOf(limit)) }
    }
    return known.error
  }
}

/** Unread refusals over HTTP/2. A client that reads nothing keeps its streams; the next ones are reset instead. */
const MOST_UNREAD = 1000

/**
 * Applies the limits of time to every request, admits requests and answers the rest before a route or a log line costs anything. The
 * connection of a refused request rests then. A refusal costs a fifth of an answer: under twice the bearable load, refusals would displace a
 * quarter of the answers.
 */
export function createBounded(
  { watch }: TimeLimits<TimedRequest, ServerResponse>,
  admit: Admit,
  rests: Pick<RestedConnections, 'refused'>,
  handler: RequestListener,
): RequestListener {
  const unread = createBudget(MOST_UNREAD)
  let known: ApiError | undefined
  let answer = (_: ServerResponse) => {}
  return (request, response) => {
    const { stream } = request as TimedRequest
    // The head may say that there is no body. An unread request of HTTP/2 never completes by itself.
    watch(response, stream?.endAfterHeaders ? undefined : request)
    const refused = admit(request, response)
    if (!refused) return handler(request, response)
    if (stream && !unread.take(1)) return void stream.close(constants.NGHTTP2_REFUSED_STREAM)
    if (stream) whenClosed(response, { over: () => unread.give(1), next: undefined })
    // The error of an overload is always the same object.
    if (refused !== known) {
      known = refused
      answer = refusing(refused)
    }
    answer(response)
    if (refused.code === 'UNAVAILABLE' && request.httpVersionMajor === 1) rests.refused(request.socket)
  }
}

function both(first: () => void, second: () => void): () => void {
  return () => {
    first()
    second()
  }
}

type Admitted = { readonly leave: () => void } | { readonly why: Refused; readonly message: string; readonly seconds: number }

/** The limits of single callers. The hash of a credential identifies a caller; all callers without one are the same. */
function createCallers(limits: AdmissionLimits, now: () => number): (hash: string) => Admitted {
  const callers = new LRUCache<string, Caller>(entries(REMEMBERED))
  return (hash) => {
    const { callerInFlight, callerPerSecond } = limits
    const caller = callers.get(hash) ?? { inFlight: 0, pace: undefined, perSecond: 0 }
    callers.set(hash, caller)
    if (caller.perSecond !== callerPerSecond) {
      caller.pace = callerPerSecond > 0 ? createBucket({ most: callerPerSecond, fillMs: 1000 }, now) : undefined
      caller.perSecond = callerPerSecond
    }
    if (callerInFlight > 0 && caller.inFlight >= callerInFlight) {
      const message = `more than limits.callerInFlight (${callerInFlight}) requests of this caller are under way`
      return { why: 'caller-in-flight', message, seconds: RETRY_AFTER }
    }
    if (caller.pace?.take() === false) {
      const message = `this caller sends more than limits.callerPerSecond (${callerPerSecond}) requests a second`
      return { why: 'caller-rate', message, seconds: Math.ceil(caller.pace.wait() / 1000) }
    }
    caller.inFlight += 1
    const leave = () => {
      caller.inFlight -= 1
    }
    return { leave }
  }
}

/** Ends a call of gRPC on a bare stream that has no answer yet. */
type EndCall = (stream: ServerHttp2Stream, error: ApiError) => void

/** The time limits of clients, applied to HTTP. `cut` counts clients that exceeded one. */
export function createClientLimits(
  times: ClientTimes,
  cut: (why: Cut) => void,
  endCall: EndCall,
): TimeLimits<TimedRequest, ServerResponse> {
  const late = (response: ServerResponse | ServerHttp2Stream, why: Late) => {
    if (!('rstCode' in response)) refuse(response, endedError(times, why, response.req), why === 'body' ? REQUEST_TIMEOUT : undefined)
    else if (response.headersSent) breakOff(response)
    else endCall(response, endedCall(times, why))
  }
  const isAnonymous = ({ headers }: TimedRequest) => !headers.authorization
  const ends = { late, close, breakOff: breakOffAnswer, cut, isAnonymous }
  return createTimeLimits(times, ends)
}

function endedError({ bodyMs }: ClientTimes, why: Late, request: IncomingMessage): ApiError {
  const headers = closing(request)
  if (why === 'place') return givenUp(headers)
  const message = `the request body did not come within limits.bodyTimeoutMs (${bodyMs})`
  return new ApiError('INVALID_ARGUMENT', message, { headers })
}

function endedCall({ bodyMs, callMs, streamBytes, streamMs }: ClientTimes, why: Late): ApiError {
  if (why === 'place') return givenUp({})
  if (why === 'body') {
    const message = `the request body did not come within limits.bodyTimeoutMs (${bodyMs})`
    return new ApiError('DEADLINE_EXCEEDED', message, { http: REQUEST_TIMEOUT })
  }
  if (why === 'call') return new ApiError('DEADLINE_EXCEEDED', `the call took longer than limits.deadlineMs (${callMs}) allows`)
  const message = `the stream moved fewer than limits.streamBytes (${streamBytes}) bytes within limits.idleTimeoutMs (${streamMs})`
  return new ApiError('DEADLINE_EXCEEDED', message)
}

function givenUp(headers: Readonly<Record<string, string>>): ApiError {
  return askAgain('RESOURCE_EXHAUSTED', 'the request did not arrive, and one with a credential needed its place', { headers })
}

/** The parts of a request that the limits use; `stream` exists over HTTP/2. */
export interface TimedRequest {
  readonly complete: boolean
  readonly headers: IncomingHttpHeaders
  /** Node sets it to null when the connection is gone. */
  readonly socket: { destroy(): unknown } | null
  readonly stream?: ServerHttp2Stream
}

/** The client's half of a bare stream. It is a class because every call has one. */
export class TimedStream implements TimedRequest {
  readonly stream: ServerHttp2Stream
  readonly socket: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  moved: number

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.stream = stream
    this.socket = stream
    this.headers = headers
    this.moved = 0
  }

  get complete(): boolean {
    return this.stream.readableEnded || this.stream.destroyed
  }
}

function breakOffAnswer(response: ServerResponse | ServerHttp2Stream): void {
  if ('rstCode' in response) breakOff(response, false)
  else response.destroy()
}

function close({ stream, socket }: TimedRequest): void {
  if (stream) stream.close(constants.NGHTTP2_NO_ERROR)
  else socket?.destroy()
}
