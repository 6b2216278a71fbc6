import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { ApiError } from '../../errors/api-error.ts'
import { CODES, codeName } from '../../errors/codes.ts'
import { isUnrelayable } from '../../errors/from-v2.ts'
import type { OnGrpc } from '../../listen/http2.ts'
import type { TimeLimits } from '../../listen/times/time-limits.ts'
import { hasFailed } from '../../modes/serve/backend.ts'
import { newRequestRecord, requestId } from '../../serve/request-record.ts'
import { credentialHash } from '../../upstream/credential.ts'
import { type GrpcEnd, refuseGrpc } from '../../upstream/grpc/client-answer.ts'
import type { Grpc } from '../../upstream/grpc/relay.ts'
import type { Forwarded } from '../forwarded/forwarded.ts'
import type { Gate } from '../gate.ts'
import type { Admit } from '../lifetime/admission.ts'
import { type TimedRequest, timedStream } from '../lifetime/timed.ts'
import { described } from '../watch/access-log.ts'
import type { Metrics } from '../watch/metrics.ts'
import { pathForLog } from '../watch/path-for-log.ts'

interface GrpcParts {
  readonly grpc: Grpc
  readonly admit: Admit
  readonly gate: Gate
  readonly forwarded: Forwarded
  readonly log: Logger
  readonly metrics: Metrics
  readonly limits: Pick<TimeLimits<TimedRequest, never>, 'watchStream'>
}

/**
 * Passes gRPC calls to v2. They are admitted, counted and logged like other requests, and their forwarding headers are corrected.
 * The path is the name of the method.
 */
export function createGrpcRoute({ grpc, admit, gate, forwarded, log, metrics, limits }: GrpcParts): OnGrpc {
  return (stream, headers, raw) => {
    limits.watchStream(stream, timedStream(stream))
    const refused = admit({ headers }, stream)
    if (refused) return refuseGrpc(stream, refused)
    const record = newRequestRecord(requestId({ headers }))
    const arrived = { headers, socket: socketOf(stream) }
    const client = forwarded.clientOf(arrived)
    forwarded.rewrite(arrived)
    const started = performance.now()
    record.operation = 'grpc'
    record.mode = 'native'
    metrics.begin()
    const ended = ({ code, failure }: GrpcEnd) => {
      const ms = performance.now() - started
      const grpcStatus = codeName(code)
      const status = CODES[grpcStatus].http
      metrics.end(record, status, ms / 1000)
      metrics.endGrpc(grpcStatus)
      if (failure && isUnrelayable(failure)) metrics.unrelayable('grpc')
      const line = {
        reqId: record.id,
        ...methodOf(headers),
        operation: record.operation,
        mode: record.mode,
        status,
        grpcStatus,
        ms: Math.round(ms * 10) / 10,
        client,
        caller: credentialHash(headers.authorization),
        ...(failure && { error: described(failure) }),
      }
      log[hasFailed(status) ? 'error' : 'info'](line, 'request')
    }
    const looped = gate.loop.enter(headers)
    if (looped) record.operation = 'loop'
    const wrong = looped ?? wrongPath(headers[':path'] ?? '', gate)
    if (wrong) refuseGrpc(stream, wrong, ended)
    else grpc.relay(stream, headers, raw, ended)
  }
}

/** The form of a gRPC method, which no REST path has. */
const METHOD = /^\/(?:\w+\.)+\w+\/\w+$/

/**
 * A gateway reads a body whatever its content type says (facts §12.5). With a gRPC type, a v1 path would bypass the mode rules.
 * Any other path would bypass the path of `upstream.v2`, which gRPC methods do not have.
 */
function wrongPath(path: string, { classify, isBelow }: Gate): ApiError | undefined {
  const target = classify(path)
  if (target.kind === 'refused') return target.error
  const isMethod = target.kind === 'native' && (!isBelow || METHOD.test(path))
  return isMethod ? undefined : new ApiError('UNIMPLEMENTED', 'no method of gRPC has such a path')
}

function methodOf(headers: IncomingHttpHeaders) {
  return { method: headers[':method'], path: pathForLog({ url: headers[':path'], httpVersionMajor: 2 }) }
}

/** Node types it as possibly TLS, and it is absent once the connection is closed. */
function socketOf({ session }: ServerHttp2Stream): Socket {
  return session?.socket as Socket
}
