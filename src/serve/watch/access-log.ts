import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { type ApiError, CODES, type CodeName, isSystemError, systemReason } from '../../errors.ts'
import { pathOf } from '../classify.ts'
import { newRequestRecord, type RequestRecord } from '../core.ts'
import type { Refused } from '../http/admission.ts'
import type { Forwarded } from '../http/forwarded.ts'
import type { WebSocketEnd } from '../http/web-sockets.ts'
import type { Cut } from '../listen/times.ts'
import { identify } from '../request.ts'
import { hasFailed } from '../sides.ts'
import { whenClosed } from '../signals.ts'

/** How a request ended, for counting. */
export type RequestOutcome = 'ok' | 'refused' | 'cancelled' | 'failed'

export function outcomeOf(status: number): RequestOutcome {
  if (status < 400) return 'ok'
  if (status === 499) return 'cancelled'
  return hasFailed(status) ? 'failed' : 'refused'
}

/** What serving counts. Serving says what happened; the metrics of the admin port are one that counts it. */
export interface RequestMetrics {
  /** The requests being served. Who begins one adds it; `end` takes it away. */
  inFlight: number
  end(record: RequestRecord, status: number, seconds: number): void
  /** Counts a finished v2 call; `traceId` is undefined if its trace is not recorded. */
  endCall(outcome: RequestOutcome | 'unanswered', seconds: number, traceId: string | undefined): void
  /** Counts the status of a gRPC call, in addition to `end`. */
  endGrpc(code: CodeName): void
  /** Counts a refused request. */
  refused(why: Refused): void
  /** Counts a client that was cut off because it took too long. */
  cut(why: Cut): void
  /** Counts an answer of a service whose head cannot be relayed. */
  unrelayable(carrier: Carrier): void
  /** Adds the number of open WebSockets to the metrics. */
  watchWebSockets(count: () => number): void
}

/** The kind of path from a request to a service. */
export type Carrier = 'native' | 'v1' | 'grpc'

/**
 * Returns the path of a request for a log, without the query, which may hold secrets.
 * HTTP/1.1 refuses a target with bytes outside printable ASCII. HTTP/2 does not, and a terminal that shows the log may obey them.
 */
export function pathForLog({ url = '', httpVersionMajor }: Pick<IncomingMessage, 'url' | 'httpVersionMajor'>): string {
  return httpVersionMajor === 1 ? pathOf(url) : pathOf(url).replaceAll(/[^\x21-\x7e]/g, encodeURIComponent)
}

/** The HTTP status of a call: that of its code, unless its error counts as another. */
export function statusOfCall(code: CodeName, error: ApiError | undefined): number {
  return error?.code === code ? error.http : CODES[code].http
}

interface EndedRequest {
  readonly method: string
  /** The path, without a query. */
  readonly path: string
  /** The HTTP status (`statusOfCall` for a call). */
  readonly status: number
}

/** Ends the span of a request, if it has one. */
export function endSpan({ span, operation, mode, protocol, grpcStatus }: RequestRecord, { method, path, status }: EndedRequest): void {
  const rpc = protocol && grpcStatus ? { protocol, path, code: CODES[grpcStatus].number } : undefined
  span?.end({ operation, mode, method, status, failed: hasFailed(status), rpc })
}

/** Opens the record of a request. When the answer ends, however it ends, closes, counts and logs it. */
export type BeginRecord = (request: IncomingMessage, response: ServerResponse, id: string) => RequestRecord

/** The maximum number of unknown parameters in a log line; a request may have ten thousand. */
const NAMED = 20

/**
 * Writes one log line a request. It never holds a header, a body or a query, because those carry tokens. The caller has the name that
 * rules and `/clients` know; nobody has verified its subject yet. The response's `close` event is used because finished, broken and
 * passed-through answers all have it.
 */
export function createAccessLog(log: Logger, metrics: RequestMetrics, forwarded: Forwarded): BeginRecord {
  return (request, response, id) => {
    const record = newRequestRecord(id)
    const client = forwarded.clientOf(request)
    metrics.inFlight += 1
    let isLate = false
    const over = () => {
      // The status of a call is known after its response has closed.
      if (record.protocol && !isLate) {
        isLate = true
        return queueMicrotask(over)
      }
      const ms = performance.now() - record.started
      if (record.grpcStatus) metrics.endGrpc(record.grpcStatus)
      // The status that the client saw in full. It is 499 if the client left earlier, and the error's if we broke off.
      const ended = response.writableFinished ? response.statusCode : (record.error?.http ?? 499)
      const status = record.grpcStatus ? statusOfCall(record.grpcStatus, record.error) : ended
      metrics.end(record, status, ms / 1000)
      if (record.span) endSpan(record, { method: request.method ?? '', path: pathForLog(request), status })
      const level = outcomeOf(status) === 'failed' ? 'error' : 'info'
      if (log.isLevelEnabled(level)) log[level](lineOf(record, request, status, ms, client), 'request')
    }
    whenClosed(response, { over, next: undefined })
    return record
  }
}

/** What a line says of a request besides its record. */
type Logged = Pick<IncomingMessage, 'method' | 'url' | 'httpVersionMajor' | 'headers'>

/** Returns a log line; `ms` is how long the request took, `client` its address. */
export function lineOf(record: RequestRecord, request: Logged, status: number, ms: number, client: string) {
  return {
    reqId: record.id,
    method: request.method,
    path: pathForLog(request),
    operation: record.operation,
    mode: record.mode,
    calls: record.calls,
    ...(record.dropped.length > 0 && { dropped: record.dropped.slice(0, NAMED) }),
    status,
    ...(record.grpcStatus && { protocol: record.protocol, grpcStatus: record.grpcStatus }),
    ms: Math.round(ms * 10) / 10,
    client,
    caller: identify(request.headers.authorization).caller,
    ...traceOf(record, request),
    ...(record.error && { error: described(record.error) }),
  }
}

/** Returns the trace id of the request: ours, or the client's. */
function traceOf({ span }: RequestRecord, { headers }: Logged): { readonly trace?: string } {
  const trace = span?.traceId ?? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(String(headers.traceparent))?.[1]
  return trace === undefined ? {} : { trace }
}

/** Codes whose messages quote the request, which may hold a secret. These messages stay out of the log. */
const QUOTING: ReadonlySet<CodeName> = new Set<CodeName>([
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'OUT_OF_RANGE',
])

/** An error in the form of the log, with its cause. */
export function described({ code, message, cause, http }: NonNullable<RequestRecord['error']>) {
  if (QUOTING.has(code)) return { code }
  return { code, message, ...(cause !== undefined && { cause: causeOf(code === 'INTERNAL' && hasFailed(http), cause) }) }
}

/** A service or a client that fails is no fault of the program: where that was noticed helps nobody, and each of many lines would say it. */
function causeOf(isInternal: boolean, cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause
  return isInternal && !isSystemError(cause) ? (cause.stack ?? cause.message) : systemReason(cause)
}

/** Writes one log line at the end of a WebSocket, in addition to that of its handshake. Neither holds a header, a message or a query. */
export function createWebSocketLog(log: Logger, forwarded: Forwarded) {
  return (request: IncomingMessage, { id }: RequestRecord, { seconds, received, sent }: WebSocketEnd): void => {
    const line = {
      reqId: id,
      path: pathForLog(request),
      seconds: Math.round(seconds * 10) / 10,
      received,
      sent,
      client: forwarded.clientOf(request),
      caller: identify(request.headers.authorization).caller,
    }
    log.info(line, 'websocket')
  }
}
