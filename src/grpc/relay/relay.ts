import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'
import { ApiError, asApiError, unrelayable } from '../../errors.ts'
import { CONNECTION_SPECIFIC, grouped, relayable, relayableHeaders } from '../../heads.ts'
import { HOP_BY_HOP } from '../../serve/heads.ts'
import { reset } from '../../serve/listen/http2.ts'
import { guarded, whenClosed } from '../../serve/signals.ts'
import type { Service } from '../../serve/upstream/health.ts'
import { failureStatus, GrpcHead, grpcTrailers, type OnEnd, statusBytes, unpadded } from '../wire/status.ts'
import { brokenOff, createSessions, foreignAnswer, type Sent, type SessionSettings, stopped, unreachable } from './session.ts'
import { type CallUnary, createCallUnary, detailsOf, isGrpcType, messageOfStatus } from './unary.ts'

/** Headers that end here, and the client's name of the host: it must not differ from `:authority` (RFC 9113 §8.3.1). `te: trailers` goes on. */
const LEFT = ['host', ...HOP_BY_HOP].filter((name) => name !== 'te')

/**
 * Makes the client's headers those of a call to the service at `url`, in place: a copy would be a tenth of the cost of a call. All stay but the
 * address, another path and those that end here.
 */
function callTo({ host, protocol }: URL, headers: IncomingHttpHeaders, raw: readonly string[], path?: string): OutgoingHttpHeaders {
  separate(headers, raw)
  for (const name of LEFT) if (headers[name] !== undefined) delete headers[name]
  headers[':authority'] = host
  headers[':scheme'] = protocol === 'https:' ? 'https' : 'http'
  // The log tells the client's path.
  return path === undefined ? headers : { ...headers, ':path': path }
}

/** Node joins repeated headers with a comma, which is wrong for binary metadata. They are written as often as they were read. */
function separate(headers: OutgoingHttpHeaders, raw: readonly string[]): void {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? ''
    const joined = headers[name]
    if (joined === raw[at + 1] || typeof joined !== 'string' || !joined.includes(', ')) continue
    const all = raw.filter((_, index) => index % 2 === 1 && raw[index - 1] === name)
    if (all.length > 1 && joined === all.join(', ')) headers[name] = all
  }
}

/** Returns the head of an answer for a client, or the problem that prevents it; `raw` has what `headers` has, as received. */
function answerHead(headers: IncomingHttpHeaders, raw: readonly string[]): OutgoingHttpHeaders | { readonly problem: string } {
  const status = Number(headers[':status'])
  if (isPlain(raw) && status >= 200 && status <= 599) return headers
  const head = relayable(2, { status, reason: '', headers: withoutPseudo(raw) })
  return 'problem' in head ? head : { ':status': status, ...grouped(head.headers) }
}

/** The same for the trailers of an answer. */
function answerTrailers(headers: IncomingHttpHeaders, raw: readonly string[]): OutgoingHttpHeaders | { readonly problem: string } {
  if (isPlain(raw)) return headers
  const trailers = relayableHeaders(2, raw)
  return 'problem' in trailers ? trailers : grouped(trailers.headers)
}

/** Headers of gRPC with characters that every head can hold. */
const PLAIN_NAME = /^:?[a-z\d_.-]+$/
const PLAIN_VALUE = /^[ -~]*$/

/** True if Node's object of these headers can be written as it is: every name is unlike the others, and HTTP/2 carries all. */
function isPlain(raw: readonly string[]): boolean {
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? ''
    if (!PLAIN_NAME.test(name) || !PLAIN_VALUE.test(raw[at + 1] ?? '') || CONNECTION_SPECIFIC.has(name)) return false
    for (let other = 0; other < at; other += 2) if (raw[other] === name) return false
  }
  return true
}

function withoutPseudo(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !raw[at - (at % 2)]?.startsWith(':'))
}

/**
 * Returns the names of v2 for a method of v2beta1. Both have the same messages with the same numbers, so that nothing else differs.
 *
 *     inV2('/chainguard.platform.iam.v2beta1.GroupsService/ListGroups').path // '/chainguard.platform.iam.v2.GroupsService/ListGroups'
 */
export function inV2(path: string) {
  return {
    /** The path of the call to the service. */
    path: path.replace('.v2beta1.', '.v2.'),
    /** Returns the client's name for the type of a detail. */
    detail: (type: string) => type.replace('.v2.', '.v2beta1.'),
  }
}

/** The names under which a service knows a method that the client calls by another one. */
export type Renamed = Readonly<ReturnType<typeof inV2>>

/** Renames the types of an error's details in the trailers of an answer, if they have other names for the client. */
function withDetails(trailers: OutgoingHttpHeaders, { detail }: Renamed): OutgoingHttpHeaders {
  const known = detailsOf(trailers[DETAILS])
  const details = known.map(({ type, value }) => ({ type: detail(type), value }))
  if (details.every(({ type }, at) => type === known[at]?.type)) return trailers
  const status = { code: Number(trailers['grpc-status']), message: messageOfStatus(trailers['grpc-message']), details }
  return { ...trailers, [DETAILS]: unpadded(statusBytes(status)) }
}

const DETAILS = 'grpc-status-details-bin'

/** The client's side of one relayed call. Every step has no effect once the client is gone. */
type GrpcAnswer = ReturnType<typeof createAnswer>

/** `service` is the one that answers. */
function createAnswer(client: ServerHttp2Stream, service: Service, ended: OnEnd, renamed?: Renamed) {
  const head = new GrpcHead(client, ended)
  /** Ends the call with a status of ours, even after messages have been sent. */
  const fail = (thrown: unknown) => {
    head.failure = asApiError(thrown)
    head.end(grpcTrailers({ status: failureStatus(thrown) }))
  }
  const isGiven = (answer: OutgoingHttpHeaders | { readonly problem: string }): answer is OutgoingHttpHeaders => {
    if (typeof answer.problem !== 'string') return true
    fail(unrelayable(service, answer.problem))
    return false
  }
  return {
    /** Begins the answer with v2's head; `whole`: nothing follows (trailers-only). Returns false if the head cannot be relayed. */
    begin(headers: IncomingHttpHeaders, raw: readonly string[], whole: boolean): boolean {
      const answer = answerHead(headers, raw)
      if (!isGiven(answer)) return false
      if (whole) head.whole(renamed ? withDetails(answer, renamed) : answer)
      else head.begin(answer, {})
      return true
    },
    /** Sets the trailers of v2 that `end` sends after the last message. */
    trailers(headers: IncomingHttpHeaders, raw: readonly string[]): void {
      const trailers = answerTrailers(headers, raw)
      if (isGiven(trailers)) head.trailers(renamed ? withDetails(trailers, renamed) : trailers)
    },
    end(): void {
      if (head.isGone()) return
      if (client.headersSent) client.end()
      else fail(unrelayable(service, 'its end before its head'))
    },
    fail,
  }
}

/** Refuses a call; `ended` is called when the refusal has been sent. */
export function refuseGrpc(client: ServerHttp2Stream, error: ApiError, ended: OnEnd = () => {}): void {
  createAnswer(client, 'v2', ended).fail(error)
}

/** Stands for the gRPC of a v2 service that speaks REST alone (`upstream.v2Grpc: rest`). Every call is UNIMPLEMENTED. */
export const noGrpc: Grpc = {
  relay: (client, headers, _, ended) => refuseGrpc(client, refusal(headers[':path']), ended),
  call: ({ path }) => Promise.reject(refusal(path)),
  stop() {},
  close() {},
}

function refusal(path: string | undefined): ApiError {
  return new ApiError('UNIMPLEMENTED', `v2 is asked over REST (upstream.v2Grpc: rest), which has no request for ${path}`)
}

/** What is known of a relayed call. */
interface RelayedAs {
  /** The service knows the method by another name. */
  readonly renamed: Renamed | undefined
  /** Counts the bytes of its messages. */
  readonly timed: { moved: number }
}

/** Passes gRPC calls to a service without decoding their messages. */
export interface Grpc {
  /**
   * Relays one call from the client's stream to the service and back. `ended` is called once, when the client's call is over.
   */
  relay(client: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[], ended: OnEnd, relayed: RelayedAs): void
  /** Makes a call of one message. */
  readonly call: CallUnary
  /** Ends the relayed calls with a status, because the process stops. Without one, clients would repeat them. */
  stop(): void
  close(): void
}

/**
 * Relays frames as they arrive. Messages are never decoded. The client and the service set the deadlines, and a slow reader on one side
 * stops the other. A call is never sent twice; its status tells the client whether it may retry.
 */
export function createGrpc(
  base: string,
  { answerBytes, ...settings }: Omit<SessionSettings, 'origin'> & { readonly answerBytes: number },
): Grpc {
  const { service } = settings
  const url = new URL(base)
  const sessions = createSessions({ origin: url.origin, ...settings })
  const underWay = new Set<GrpcAnswer>()
  return {
    relay(client, headers, raw, ended, { renamed, timed }) {
      const answer = createAnswer(client, service, ended, renamed)
      underWay.add(answer)
      whenClosed(client, { over: () => underWay.delete(answer), next: undefined })
      const carry = async () => {
        const sent = await sessions.request(callTo(url, headers, raw, renamed?.path), client)
        if (!sent) return
        carryRequest(client, sent, timed)
        carryAnswer(client, sent, answer, service, timed)
      }
      carry().catch(answer.fail)
    },
    call: createCallUnary(sessions, url, service, answerBytes),
    stop() {
      for (const answer of underWay) answer.fail(stopped())
    },
    close: sessions.close,
  }
}

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_INTERNAL_ERROR } = constants

function carryRequest(client: ServerHttp2Stream, { stream: call }: Sent, timed: RelayedAs['timed']): void {
  if (!client.endAfterHeaders) {
    flow(client, call, timed)
    // A request without a message may have ended while the connection was made.
    if (client.readableEnded) call.end()
    else client.once('end', () => call.end())
  }
  // v2 may answer before it has read the request; the rest of the request is discarded then.
  whenClosed(call, { over: () => client.resume(), next: undefined })
  whenClosed(client, { over: () => leave(call, client.rstCode || NGHTTP2_CANCEL), next: undefined })
}

/** Node keeps a stream, and its connection, until the received data has been read. */
function leave(call: ClientHttp2Stream, code: number): void {
  call.close(code)
  call.resume()
}

/** Carries data on as it comes, and waits for a slow reader. What comes for a stream that is gone is discarded. It costs a third of a pipe. */
function flow(from: Duplex, to: Duplex, timed: RelayedAs['timed']): void {
  from.on('data', (piece: Buffer) => {
    timed.moved += piece.length
    if (to.destroyed || to.closed || to.writableEnded || to.write(piece)) return
    from.pause()
    to.once('drain', () => from.resume())
  })
}

function carryAnswer(
  client: ServerHttp2Stream,
  { stream: call, isLost, mayBeDone }: Sent,
  answer: GrpcAnswer,
  service: Service,
  timed: RelayedAs['timed'],
): void {
  call.on('error', () => {})
  const begin = (headers: IncomingHttpHeaders, flags: number, raw: readonly string[]) => {
    const whole = (flags & NGHTTP2_FLAG_END_STREAM) !== 0
    // A gateway of v1 that is no gRPC service answers as if the call were a request of its own.
    if (service === 'v1' && !isGrpcType(headers['content-type'])) answer.fail(foreignAnswer(service, Number(headers[':status'])))
    else if (answer.begin(headers, raw, whole)) return whole ? void call.resume() : flow(call, client, timed)
    leave(call, NGHTTP2_CANCEL)
  }
  type Arrived = [headers: IncomingHttpHeaders, flags: number, raw: readonly string[]]
  const carefully = (step: (...arrived: Arrived) => void) => guarded(step, answer.fail)
  const begins = carefully(begin)
  call.once('response', begins)
  // Behind an informational head, Node tells one with a status below 100 as another such. nghttp2 knows that it is the last, and lets data follow.
  call.on('headers', (...arrived: Arrived) => {
    if (Number(arrived[0][':status']) < 100) begins(...arrived)
  })
  call.once(
    'trailers',
    carefully((headers, _, raw) => answer.trailers(headers, raw)),
  )
  // A reset stream also emits `end`. A truncated answer must not look complete.
  call.once('end', () => {
    if (!call.rstCode) answer.end()
  })
  const over = () => {
    if (client.writableEnded || client.closed) return
    if (isLost()) answer.fail(mayBeDone() ? brokenOff(service) : unreachable(service))
    else reset(client, call.rstCode || NGHTTP2_INTERNAL_ERROR)
  }
  whenClosed(call, { over, next: undefined })
}
