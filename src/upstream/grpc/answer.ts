import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { ApiError } from '../../errors/api-error.ts'
import { CODES } from '../../errors/codes.ts'
import { asApiError } from '../../errors/to-v1.ts'
import { statusOf } from './headers.ts'

/** How a call ended. */
export interface GrpcEnd {
  /** A gRPC status code. */
  readonly code: number
  /** What kept us from carrying it, when something did. */
  readonly failure: ApiError | undefined
}

/** The client's side of one call. Every step is without effect once the client is gone. */
export interface GrpcAnswer {
  /** Begins the answer; `whole`: nothing else follows (trailers-only). */
  begin(headers: OutgoingHttpHeaders, whole: boolean): void
  /** What `end` will send after the last message. */
  trailers(trailers: OutgoingHttpHeaders): void
  end(): void
  /** Ends the call with a status of ours, also after messages have been sent. */
  fail(thrown: unknown): void
}

const OK_HEADERS = { ':status': 200, 'content-type': 'application/grpc' }

export function createAnswer(client: ServerHttp2Stream, ended: (end: GrpcEnd) => void): GrpcAnswer {
  let last: OutgoingHttpHeaders = {}
  let failure: ApiError | undefined
  const isGone = () => client.closed || client.destroyed
  const begin = (headers: OutgoingHttpHeaders, whole: boolean) => {
    if (isGone()) return
    if (whole) last = headers
    client.respond(headers, whole ? { endStream: true } : { waitForTrailers: true })
  }
  client.on('error', () => {})
  client.on('wantTrailers', () => client.sendTrailers(last))
  client.once('close', () => ended({ code: codeOf(client.rstCode ?? 0, last['grpc-status']), failure }))
  return {
    begin,
    trailers(trailers) {
      last = trailers
    },
    end() {
      if (!isGone()) client.end()
    },
    fail(thrown) {
      failure = asApiError(thrown)
      const status = statusOf(failure)
      client.resume()
      if (!client.headersSent) return begin({ ...OK_HEADERS, ...status }, true)
      last = status
      if (!isGone()) client.end()
    },
  }
}

/** Ends a call that nobody will carry. */
export function refuseGrpc(client: ServerHttp2Stream, error: ApiError): void {
  createAnswer(client, () => {}).fail(error)
}

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/** The status that the client sees: the one that was sent, or what gRPC makes of a reset. */
function codeOf(reset: number, status: unknown): number {
  if (reset === NGHTTP2_CANCEL) return CODES.CANCELLED.number
  if (reset === NGHTTP2_REFUSED_STREAM) return CODES.UNAVAILABLE.number
  if (reset !== NGHTTP2_NO_ERROR) return CODES.INTERNAL.number
  return status === undefined ? CODES.UNKNOWN.number : Number(status)
}
