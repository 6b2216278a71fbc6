import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { ApiError } from '../../errors/api-error.ts'
import { guarded } from '../../relay/guard.ts'
import { createAnswer, type GrpcAnswer, type GrpcEnd } from './client-answer.ts'
import { callTo } from './metadata.ts'
import type { Sent } from './session.ts'
import { createSessions, type SessionsSettings } from './sessions.ts'

/** Relays gRPC calls to the v2 service without decoding them. */
export interface Grpc {
  /** Relays one call from the client's stream to v2 and back. `ended` is called once, when the client's call is over. */
  relay(client: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[], ended: (end: GrpcEnd) => void): void
  close(): void
}

/**
 * Relays frames as they arrive. Messages are never decoded. The client and the service set the deadlines, and a slow reader on one side
 * stops the other. A call is never sent twice; its status tells the client whether it may retry.
 */
export function createGrpc(base: string, settings: Omit<SessionsSettings, 'origin'>): Grpc {
  const url = new URL(base)
  const sessions = createSessions({ origin: url.origin, ...settings })
  return {
    relay(client, headers, raw, ended) {
      const answer = createAnswer(client, ended)
      const carry = async () => {
        const sent = await sessions.request(callTo(url, headers, raw), client)
        if (!sent) return
        carryRequest(client, sent)
        carryAnswer(client, sent, answer)
      }
      carry().catch(answer.fail)
    },
    close: sessions.close,
  }
}

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_INTERNAL_ERROR } = constants

function carryRequest(client: ServerHttp2Stream, { stream: call }: Sent): void {
  if (!client.endAfterHeaders) client.pipe(call)
  // v2 may answer before it has read the request; the rest of the request is discarded then.
  call.once('close', () => client.resume())
  client.once('close', () => leave(call, client.rstCode || NGHTTP2_CANCEL))
}

/** Node keeps a stream, and its connection, until the received data has been read. */
function leave(call: ClientHttp2Stream, code: number): void {
  call.close(code)
  call.unpipe()
  call.resume()
}

function carryAnswer(client: ServerHttp2Stream, { stream: call, isLost }: Sent, answer: GrpcAnswer): void {
  call.on('error', () => {})
  const begin = (flags: number, raw: readonly string[]) => {
    const whole = (flags & NGHTTP2_FLAG_END_STREAM) !== 0
    if (!answer.begin(raw, whole)) leave(call, NGHTTP2_CANCEL)
    else if (whole) call.resume()
    else call.pipe(client, { end: false })
  }
  type Arrived = [headers: IncomingHttpHeaders, flags: number, raw: readonly string[]]
  const carefully = (step: (...arrived: Arrived) => void) => guarded(step, answer.fail)
  call.once(
    'response',
    carefully((_, flags, raw) => begin(flags, raw)),
  )
  call.once(
    'trailers',
    carefully((_, __, raw) => answer.trailers(raw)),
  )
  // A reset stream also emits `end`. A truncated answer must not look complete.
  call.once('end', () => {
    if (!call.rstCode) answer.end()
  })
  call.once('close', () => {
    if (client.writableEnded || client.closed) return
    if (isLost()) answer.fail(new ApiError('UNAVAILABLE', 'the connection to the v2 service broke'))
    else client.close(call.rstCode || NGHTTP2_INTERNAL_ERROR)
  })
}
