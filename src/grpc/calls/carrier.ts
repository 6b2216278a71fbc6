/**
 * The second protocol: gRPC, gRPC-Web and Connect. A call of a v1 service becomes a request as REST has it; every other call is relayed.
 *
 * 1. This file finds out whose a call is, opens its record, and loads the rest with the first call (`calls.ts`).
 * 2. `wire/` reads and writes frames, metadata, deadlines and statuses; it knows no message.
 * 3. `messages/request-of.ts` makes the request of a message by the http rules in `facts.ts`; serving answers it.
 * 4. `messages/message-of.ts` and `encode/` make the message of the answer, row by row.
 * 5. `relay/` passes all other calls on, frame by frame, in both directions.
 *
 * It decides nothing about v1 and v2: who answers is decided as for REST.
 */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { ApiError, asApiError, askAgain, CODES, codeName, isUnrelayable } from '../../errors.ts'
import { pathOf } from '../../serve/classify.ts'
import { newRequestRecord, type RequestRecord, requestId } from '../../serve/core.ts'
import { type Admit, type TimedRequest, TimedStream } from '../../serve/http/admission.ts'
import type { RequestChecks } from '../../serve/http/app.ts'
import type { Passthrough } from '../../serve/http/carriers.ts'
import type { Forwarded } from '../../serve/http/forwarded.ts'
import { refuse } from '../../serve/http/v1-surface.ts'
import type { OnGrpc } from '../../serve/listen/http2.ts'
import { ClientSignal, type TimeLimits } from '../../serve/listen/times.ts'
import { hasFailed } from '../../serve/sides.ts'
import { whenClosed } from '../../serve/signals.ts'
import { endSpan, lineOf, pathForLog, type RequestMetrics, statusOfCall } from '../../serve/watch/access-log.ts'
import { type Grpc, refuseGrpc } from '../relay/relay.ts'
import type { OnEnd } from '../wire/status.ts'
import type { RpcCalls, RpcParts } from './calls.ts'
import type { ServeStandard, StandardParts } from './standard.ts'

/** The record of a call, and what ends it. */
export interface BegunCall {
  readonly record: RequestRecord
  /** Counts and logs the call; it is called once. */
  readonly ended: OnEnd
}

/**
 * Returns what opens the record of a gRPC call on a bare stream, and writes one log line a call, as the access log does for requests.
 */
export function createCallLog(log: Logger, metrics: RequestMetrics, forwarded: Forwarded) {
  return (arrived: Parameters<Forwarded['clientOf']>[0] & { readonly headers: IncomingHttpHeaders }): BegunCall => {
    const { headers } = arrived
    const record = newRequestRecord(requestId({ headers }))
    const client = forwarded.clientOf(arrived)
    record.protocol = 'grpc'
    record.operation = 'grpc'
    record.mode = 'native'
    metrics.inFlight += 1
    const ended: OnEnd = (code, failure) => {
      const ms = performance.now() - record.started
      const grpcStatus = codeName(code)
      record.grpcStatus = grpcStatus
      record.error = failure ?? record.error
      const status = statusOfCall(grpcStatus, record.error)
      metrics.end(record, status, ms / 1000)
      metrics.endGrpc(grpcStatus)
      if (failure && isUnrelayable(failure)) metrics.unrelayable('grpc')
      const request = { method: headers[':method'], url: headers[':path'], httpVersionMajor: 2, headers }
      if (record.span) endSpan(record, { method: 'POST', path: pathForLog(request), status })
      const level = hasFailed(status) ? 'error' : 'info'
      if (log.isLevelEnabled(level)) log[level](lineOf(record, request, status, ms, client), 'request')
    }
    return { record, ended }
  }
}

/** All services of v1 begin so. */
const OURS = '/chainguard.platform.'

export type LazyRpc = ReturnType<typeof createLazyRpc>

/**
 * Returns what serves calls of v1 over gRPC, loaded when the first one arrives: a process that sees none keeps 16 MB. Without tables for
 * gRPC, it concerns no path: every call passes to v2.
 */
export function createLazyRpc(hasTables: boolean, parts: RpcParts) {
  let loaded: RpcCalls | undefined
  let loading: Promise<RpcCalls> | undefined
  const load = async (): Promise<RpcCalls> => {
    const { createRpcCalls } = await import('./calls.ts')
    loaded = createRpcCalls(parts)
    return loaded
  }
  return {
    /** True if a path may be one of ours, so that it is worth loading. */
    concerns: (path: string) => hasTables && path.startsWith(OURS),
    /** Calls `then` with the loaded parts, at once when they are loaded. */
    use(then: (calls: RpcCalls) => void, failed: (thrown: unknown) => void) {
      if (loaded) return then(loaded)
      loading ??= load()
      loading.then(then).catch(failed)
    },
    /** Answers every call under way, because the process stops. */
    stop: () => loaded?.stop(),
  }
}

/** Serves a request outside v1's paths: as a call of gRPC-Web or Connect if its path names a method that is known, else as v2's own. */
export function createPairs(rpc: LazyRpc, forwarded: Forwarded, passthrough: Pick<Passthrough, 'serve'>): Passthrough['serve'] {
  return (request, reply, record) => {
    const path = pathOf(request.raw.url ?? '')
    if (!rpc.concerns(path)) return passthrough.serve(request, reply, record)
    const client = new ClientSignal(reply.raw)
    const carry = (calls: RpcCalls) => {
      // A body that its client took along reads as an empty one, which is a message too.
      if (client.aborted) return
      const to = calls.find(path)
      if (!to) return passthrough.serve(request, reply, record)
      reply.hijack()
      record.protocol = protocolOf(request)
      if (calls.isForwarded(to)) forwarded.rewrite(request.raw)
      calls.servePair(to, { request: request.raw, response: reply.raw }, record)
    }
    rpc.use(carry, (thrown) => fail(reply, record, thrown))
  }
}

function protocolOf({ headers }: FastifyRequest): NonNullable<RequestRecord['protocol']> {
  return headers['content-type']?.toLowerCase().startsWith('application/grpc-web') ? 'grpc-web' : 'connect'
}

function fail(reply: FastifyReply, record: RequestRecord, thrown: unknown): void {
  record.error = asApiError(thrown)
  reply.hijack()
  refuse(reply.raw, record.error)
}

const HEALTH = '/grpc.health.v1.Health/'
const REFLECTION = /^\/grpc\.reflection\.v1(?:alpha)?\.ServerReflection\//

/** Returns what serves health and reflection, loaded by the first such call. */
export function createLazyStandard(parts: StandardParts) {
  let loading: Promise<ServeStandard> | undefined
  const load = async () => (await import('./standard.ts')).createStandardCalls(parts)
  return {
    isHealth: (path: string) => path.startsWith(HEALTH),
    /** False where reflection is turned off: v2 then gets its calls, as it gets those of every service that is not known. */
    isReflection: (path: string) => parts.settings.reflection && REFLECTION.test(path),
    serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ended: OnEnd): void {
      loading ??= load()
      loading.then((serve) => serve(stream, headers, ended)).catch((thrown) => refuseGrpc(stream, asApiError(thrown), ended))
    },
  }
}

export interface GrpcParts {
  readonly grpc: Grpc
  readonly rpc: LazyRpc
  readonly standard: ReturnType<typeof createLazyStandard>
  readonly admit: Admit
  readonly checks: RequestChecks
  readonly forwarded: Forwarded
  readonly begin: ReturnType<typeof createCallLog>
  readonly limits: Pick<TimeLimits<TimedRequest, never>, 'watchStream'>
  /** The most streams of messages that are relayed at once, of methods that nobody here knows. It may change. */
  readonly places: { readonly mostStreams: number }
}

/** Places for calls of reflection. They are none of `limits.requestsInFlight`, so that strangers cannot fill that with them. */
const REFLECTIONS = 20

/** Returns what gives a call one of so many places until it is closed, or the error to answer with. */
function createPlaces(most: () => number, full: () => ApiError): (stream: ServerHttp2Stream) => ApiError | undefined {
  let taken = 0
  const leave = () => {
    taken -= 1
  }
  return (stream) => {
    if (taken >= most()) return full()
    taken += 1
    whenClosed(stream, { over: leave, next: undefined })
    return undefined
  }
}

/**
 * Serves gRPC calls of v1, of health and of reflection, and passes all others to v2. Calls are admitted, counted and logged like other
 * requests. The forwarding headers of those that a service gets are corrected. The path is the name of the method.
 */
export function createGrpcRoute({ grpc, rpc, standard, admit, checks, forwarded, begin, limits, places }: GrpcParts): OnGrpc {
  const reflections = createPlaces(
    () => REFLECTIONS,
    () => askAgain('RESOURCE_EXHAUSTED', `more than ${REFLECTIONS} calls of reflection are under way`),
  )
  const streams = createPlaces(
    () => places.mostStreams,
    () => askAgain('RESOURCE_EXHAUSTED', 'streams take their share of limits.requestsInFlight, a quarter'),
  )
  return (stream, headers, raw) => {
    const timed = new TimedStream(stream, headers)
    const watched = limits.watchStream(stream, timed)
    const path = headers[':path'] ?? ''
    // A probe is answered under any load, because a busy process is a healthy one. Nobody wants its log lines.
    if (standard.isHealth(path)) return standard.serve(stream, headers, () => {})
    const isReflection = standard.isReflection(path)
    const refused = isReflection ? reflections(stream) : admit({ headers }, stream)
    if (refused) return refuseGrpc(stream, refused)
    // As any other request of HTTP/2, a call names the host that it is for in `:authority`, whatever its host header says.
    headers.host = headers[':authority'] ?? headers.host
    const arrived = { headers, socket: socketOf(stream) }
    const begun = begin(arrived)
    const { record, ended } = begun
    const looped = checks.loop.enter(headers)
    if (looped) record.operation = 'loop'
    const wrong = looped ?? wrongPath(path, checks)
    if (wrong) return refuseGrpc(stream, wrong, ended)
    if (isReflection) {
      record.operation = 'reflection'
      return standard.serve(stream, headers, ended)
    }
    const relay = () => {
      const full = streams(stream)
      if (full) return refuseGrpc(stream, full, ended)
      forwarded.rewrite(arrived)
      watched.kind = 'stream'
      grpc.relay(stream, headers, raw, ended, { renamed: undefined, timed })
    }
    if (!rpc.concerns(path)) return relay()
    const carry = (calls: RpcCalls) => {
      if (stream.closed || stream.destroyed) return ended(CODES.CANCELLED.number, undefined)
      const to = calls.find(path)
      if (!to) return relay()
      if (calls.isForwarded(to)) forwarded.rewrite(arrived)
      watched.kind = to.relayed ? 'call' : 'body'
      if (to.relayed) grpc.relay(stream, headers, raw, ended, { ...to.relayed, timed })
      else calls.serveGrpc(to, stream, headers, begun)
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
function wrongPath(path: string, { classify, isBelow }: RequestChecks): ApiError | undefined {
  const target = classify(path)
  if (target.kind === 'refused') return target.error
  const isMethod = target.kind === 'native' && (!isBelow || METHOD.test(path))
  return isMethod ? undefined : new ApiError('UNIMPLEMENTED', 'no gRPC method has such a path')
}

/** Node types it as possibly TLS, and it is absent once the connection is closed. */
function socketOf({ session }: ServerHttp2Stream): Socket {
  return session?.socket as Socket
}
