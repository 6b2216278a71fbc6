import type { IncomingHttpHeaders } from 'node:http2'
import type { Logger } from 'pino'
import { CODES, codeName, isUnrelayable } from '../../../errors.ts'
import { newRequestRecord, type RequestRecord, requestId } from '../../../serve/core.ts'
import type { Forwarded } from '../../../serve/http/forwarded.ts'
import { hasFailed } from '../../../serve/sides.ts'
import { endSpan, lineOf, pathForLog, type RequestMetrics } from '../../../serve/watch/access-log.ts'
import type { GrpcEnd } from '../../../upstream/grpc/client-answer.ts'

/** A gRPC call as it came. */
export type ArrivedCall = Parameters<Forwarded['clientOf']>[0] & { readonly headers: IncomingHttpHeaders }

/** The record of a call, and what ends it. */
export interface BegunCall {
  readonly record: RequestRecord
  /** Counts and logs the call; it is called once. */
  readonly ended: (end: GrpcEnd) => void
}

/** Opens the record of a gRPC call on a bare stream. */
export type BeginCall = (arrived: ArrivedCall) => BegunCall

/** Writes one log line a call, as the access log does for requests. Its HTTP status is that of the call's code. */
export function createCallLog(log: Logger, metrics: RequestMetrics, forwarded: Forwarded): BeginCall {
  return (arrived) => {
    const { headers } = arrived
    const record = newRequestRecord(requestId({ headers }))
    const client = forwarded.clientOf(arrived)
    const started = performance.now()
    record.protocol = 'grpc'
    record.operation = 'grpc'
    record.mode = 'native'
    metrics.begin()
    const ended = ({ code, failure }: GrpcEnd) => {
      const ms = performance.now() - started
      const grpcStatus = codeName(code)
      const status = CODES[grpcStatus].http
      record.grpcStatus = grpcStatus
      record.error = failure ?? record.error
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
