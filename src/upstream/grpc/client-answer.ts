import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { type ApiError, asApiError, unrelayable } from '../../errors.ts'
import { guarded, whenClosed } from '../../serve/signals.ts'
import type { Service } from '../../serve/upstream/health.ts'
import { closedCode } from '../../wire/status/closed-code.ts'
import { answerHead, answerTrailers, statusOf } from './metadata.ts'
import { type Renamed, withDetails } from './renamed.ts'

/** The end of a call. */
export interface GrpcEnd {
  /** A gRPC status code. */
  readonly code: number
  /** The error that stopped the relay, if any. */
  readonly failure: ApiError | undefined
}

/** Takes the end of a call, once. */
export type OnGrpcEnd = (end: GrpcEnd) => void

/** The client's side of one call. Every step has no effect once the client is gone. */
export interface GrpcAnswer {
  /** Begins the answer with v2's head; `whole`: nothing follows (trailers-only). Returns false if the head cannot be relayed. */
  begin(headers: IncomingHttpHeaders, raw: readonly string[], whole: boolean): boolean
  /** Sets the trailers of v2 that `end` sends after the last message. */
  trailers(headers: IncomingHttpHeaders, raw: readonly string[]): void
  end(): void
  /** Ends the call with a status of ours, even after messages have been sent. */
  fail(thrown: unknown): void
}

const { NGHTTP2_INTERNAL_ERROR } = constants

/** The date is the service's to send. */
const WHOLE = { endStream: true, sendDate: false }
const BEGUN = { waitForTrailers: true, sendDate: false }

const OK_HEADERS = { ':status': 200, 'content-type': 'application/grpc' }

interface AnswerSettings {
  /** The service that answers. */
  readonly service: Service
  readonly ended: OnGrpcEnd
  readonly renamed?: Renamed | undefined
}

export function createAnswer(client: ServerHttp2Stream, { service, ended, renamed }: AnswerSettings): GrpcAnswer {
  let last: OutgoingHttpHeaders = {}
  let failure: ApiError | undefined
  const isGone = () => client.closed || client.destroyed
  const respond = (headers: OutgoingHttpHeaders, whole: boolean) => {
    if (isGone()) return
    if (whole) last = headers
    client.respond(headers, whole ? WHOLE : BEGUN)
  }
  const fail = (thrown: unknown) => {
    failure = asApiError(thrown)
    const status = statusOf(failure)
    client.resume()
    if (!client.headersSent) return respond({ ...OK_HEADERS, ...status }, true)
    last = status
    if (!isGone()) client.end()
  }
  const give = (answer: OutgoingHttpHeaders | { readonly problem: string }): answer is OutgoingHttpHeaders => {
    if (typeof answer.problem !== 'string') return true
    fail(unrelayable(service, answer.problem))
    return false
  }
  client.on('error', () => {})
  client.on(
    'wantTrailers',
    guarded(
      () => client.sendTrailers(last),
      () => client.close(NGHTTP2_INTERNAL_ERROR),
    ),
  )
  whenClosed(client, { over: () => ended({ code: closedCode(client), failure }), next: undefined })
  return {
    begin(headers, raw, whole) {
      const head = answerHead(headers, raw)
      if (!give(head)) return false
      respond(whole && renamed ? withDetails(head, renamed) : head, whole)
      return true
    },
    trailers(headers, raw) {
      const trailers = answerTrailers(headers, raw)
      if (give(trailers)) last = renamed ? withDetails(trailers, renamed) : trailers
    },
    end() {
      if (isGone()) return
      if (client.headersSent) client.end()
      else fail(unrelayable(service, 'its end before its head'))
    },
    fail,
  }
}

/** Refuses a call; `ended` is called when the refusal has been sent. */
export function refuseGrpc(client: ServerHttp2Stream, error: ApiError, ended: OnGrpcEnd = () => {}): void {
  createAnswer(client, { service: 'v2', ended }).fail(error)
}
