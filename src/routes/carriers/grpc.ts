import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { ApiError, asApiError, CODES } from '../../errors.ts'
import { type Admit, type TimedRequest, TimedStream } from '../../serve/http/admission.ts'
import type { Gate } from '../../serve/http/app.ts'
import type { Forwarded } from '../../serve/http/forwarded.ts'
import type { OnGrpc } from '../../serve/listen/http2.ts'
import type { TimeLimits } from '../../serve/listen/times.ts'
import { refuseGrpc } from '../../upstream/grpc/client-answer.ts'
import type { Grpc } from '../../upstream/grpc/relay.ts'
import type { BeginCall } from '../watch/logs/call-log.ts'
import type { LazyRpc } from './rpc/lazy-rpc.ts'
import type { RpcCalls } from './rpc/rpc-calls.ts'
import type { LazyStandard } from './rpc/standard/lazy-standard.ts'

export interface GrpcParts {
  readonly grpc: Grpc
  readonly rpc: LazyRpc
  readonly standard: LazyStandard
  readonly admit: Admit
  readonly gate: Gate
  readonly forwarded: Forwarded
  readonly begin: BeginCall
  readonly limits: Pick<TimeLimits<TimedRequest, never>, 'watchStream'>
}

/**
 * Serves gRPC calls of v1, of health and of reflection, and passes all others to v2. Calls are admitted, counted and logged like other
 * requests, and their forwarding headers are corrected. The path is the name of the method.
 */
export function createGrpcRoute({ grpc, rpc, standard, admit, gate, forwarded, begin, limits }: GrpcParts): OnGrpc {
  return (stream, headers, raw) => {
    limits.watchStream(stream, new TimedStream(stream))
    const path = headers[':path'] ?? ''
    // A probe is answered under any load, because a busy process is a healthy one. Nobody wants its log lines.
    if (standard.isHealth(path)) return standard.serve(stream, headers, () => {})
    const refused = admit({ headers }, stream)
    if (refused) return refuseGrpc(stream, refused)
    const arrived = { headers, socket: socketOf(stream) }
    const begun = begin(arrived)
    const { record, ended } = begun
    forwarded.rewrite(arrived)
    const looped = gate.loop.enter(headers)
    if (looped) record.operation = 'loop'
    const wrong = looped ?? wrongPath(path, gate)
    if (wrong) return refuseGrpc(stream, wrong, ended)
    if (standard.isReflection(path)) {
      record.operation = 'reflection'
      return standard.serve(stream, headers, (code) => ended({ code, failure: undefined }))
    }
    if (!rpc.concerns(path)) return grpc.relay(stream, headers, raw, ended)
    const carry = (calls: RpcCalls) => {
      if (stream.closed || stream.destroyed) return ended({ code: CODES.CANCELLED.number, failure: undefined })
      const to = calls.find(path)
      if (to && !to.relayed) calls.serveGrpc(to, stream, headers, begun)
      else grpc.relay(stream, headers, raw, ended, to?.relayed?.renamed)
    }
    rpc.use(carry, (thrown) => refuseGrpc(stream, asApiError(thrown), ended))
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

/** Node types it as possibly TLS, and it is absent once the connection is closed. */
function socketOf({ session }: ServerHttp2Stream): Socket {
  return session?.socket as Socket
}
