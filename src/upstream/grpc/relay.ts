import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'
import { guarded, whenClosed } from '../../serve/signals.ts'
import type { Service } from '../../serve/upstream/health.ts'
import { createAnswer, type GrpcAnswer, type OnGrpcEnd } from './client-answer.ts'
import { brokenOff, foreignAnswer, stopped, unreachable } from './failures.ts'
import { callTo } from './metadata.ts'
import type { Renamed } from './renamed.ts'
import type { Sent } from './session.ts'
import { createSessions, type SessionsSettings } from './sessions.ts'
import { type CallUnary, createCallUnary, type UnarySettings } from './unary.ts'
import { isGrpcType } from './unary-metadata.ts'

/** Passes gRPC calls to a service without decoding their messages. */
export interface Grpc {
  /**
   * Relays one call from the client's stream to the service and back. `ended` is called once, when the client's call is over.
   * `renamed`: the service knows the method by another name.
   */
  relay(client: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[], ended: OnGrpcEnd, renamed?: Renamed): void
  /** Makes a call of one message. */
  readonly call: CallUnary
  /** Ends the relayed calls with a status, because the process stops. Without one, clients would repeat them. */
  stop(): void
  close(): void
}

export type GrpcSettings = Omit<SessionsSettings, 'origin'> & Pick<UnarySettings, 'answerBytes'>

/**
 * Relays frames as they arrive. Messages are never decoded. The client and the service set the deadlines, and a slow reader on one side
 * stops the other. A call is never sent twice; its status tells the client whether it may retry.
 */
export function createGrpc(base: string, settings: GrpcSettings): Grpc {
  const { service, answerBytes } = settings
  const url = new URL(base)
  const sessions = createSessions({ origin: url.origin, ...settings })
  const underWay = new Set<GrpcAnswer>()
  return {
    relay(client, headers, raw, ended, renamed) {
      const answer = createAnswer(client, { service, ended, renamed })
      underWay.add(answer)
      whenClosed(client, { over: () => underWay.delete(answer), next: undefined })
      const carry = async () => {
        const sent = await sessions.request(callTo(url, headers, raw, renamed?.path), client)
        if (!sent) return
        carryRequest(client, sent)
        carryAnswer(client, sent, answer, service)
      }
      carry().catch(answer.fail)
    },
    call: createCallUnary(sessions, { service, url, answerBytes }),
    stop() {
      for (const answer of underWay) answer.fail(stopped())
    },
    close: sessions.close,
  }
}

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_INTERNAL_ERROR } = constants

function carryRequest(client: ServerHttp2Stream, { stream: call }: Sent): void {
  if (!client.endAfterHeaders) {
    flow(client, call)
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
function flow(from: Duplex, to: Duplex): void {
  from.on('data', (piece: Buffer) => {
    if (to.destroyed || to.closed || to.writableEnded || to.write(piece)) return
    from.pause()
    to.once('drain', () => from.resume())
  })
}

function carryAnswer(client: ServerHttp2Stream, { stream: call, isLost, mayBeDone }: Sent, answer: GrpcAnswer, service: Service): void {
  call.on('error', () => {})
  const begin = (headers: IncomingHttpHeaders, flags: number, raw: readonly string[]) => {
    const whole = (flags & NGHTTP2_FLAG_END_STREAM) !== 0
    // A gateway of v1 that is no gRPC service answers as if the call were a request of its own.
    if (service === 'v1' && !isGrpcType(headers['content-type'])) answer.fail(foreignAnswer(service, Number(headers[':status'])))
    else if (answer.begin(headers, raw, whole)) return whole ? void call.resume() : flow(call, client)
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
    else client.close(call.rstCode || NGHTTP2_INTERNAL_ERROR)
  }
  whenClosed(call, { over, next: undefined })
}
