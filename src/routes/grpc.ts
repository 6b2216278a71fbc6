import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { CODES, codeName } from '../errors/codes.ts'
import { isUnrelayable } from '../errors/from-v2.ts'
import type { OnGrpc } from '../listen/http2.ts'
import type { TimeLimits } from '../listen/time-limits.ts'
import { hasFailed } from '../modes/backend.ts'
import { credentialHash } from '../upstream/credential.ts'
import { refuseGrpc } from '../upstream/grpc/answer.ts'
import type { Grpc } from '../upstream/grpc/relay.ts'
import type { Admit } from './admission.ts'
import { pathOf } from './classify.ts'
import { described } from './edge.ts'
import { newExchange, requestId } from './exchange.ts'
import type { Forwarded } from './forwarded.ts'
import type { Metrics } from './metrics.ts'
import { type TimedRequest, timedStream } from './timed.ts'

interface GrpcParts {
  readonly grpc: Grpc
  readonly admit: Admit
  readonly forwarded: Forwarded
  readonly log: Logger
  readonly metrics: Metrics
  readonly limits: Pick<TimeLimits<TimedRequest, never>, 'watchStream'>
}

/**
 * Hands gRPC calls over to v2. They are let in, counted and logged as every other request is, and their forwarding headers are made true;
 * the name of the method is the path.
 */
export function createGrpcRoute({ grpc, admit, forwarded, log, metrics, limits }: GrpcParts): OnGrpc {
  return (stream, headers, raw) => {
    limits.watchStream(stream, timedStream(stream))
    const refused = admit({ headers }, stream)
    if (refused) return refuseGrpc(stream, refused)
    const exchange = newExchange(requestId({ headers }))
    const arrived = { headers, socket: socketOf(stream) }
    const client = forwarded.clientOf(arrived)
    forwarded.rewrite(arrived)
    const started = performance.now()
    exchange.operation = 'grpc'
    exchange.mode = 'native'
    metrics.begin()
    grpc.relay(stream, headers, raw, ({ code, failure }) => {
      const ms = performance.now() - started
      const grpcStatus = codeName(code)
      const status = CODES[grpcStatus].http
      metrics.end(exchange, status, ms / 1000)
      metrics.endGrpc(grpcStatus)
      if (failure && isUnrelayable(failure)) metrics.unrelayable('grpc')
      const line = {
        reqId: exchange.id,
        ...methodOf(headers),
        operation: exchange.operation,
        mode: exchange.mode,
        status,
        grpcStatus,
        ms: Math.round(ms * 10) / 10,
        client,
        caller: credentialHash(headers.authorization),
        ...(failure && { error: described(failure) }),
      }
      log[hasFailed(status) ? 'error' : 'info'](line, 'request')
    })
  }
}

function methodOf(headers: IncomingHttpHeaders) {
  return { method: headers[':method'], path: pathOf(headers[':path'] ?? '') }
}

/** Node gives it as something that may be TLS, or nothing once the connection is over. */
function socketOf({ session }: ServerHttp2Stream): Socket {
  return session?.socket as Socket
}
