import { CODES } from '../../../errors.ts'
import type { RequestRecord } from '../../../serve/request-record.ts'
import { hasFailed } from '../../../serve/sides.ts'

interface EndedRequest {
  readonly method: string
  /** The path, without a query. */
  readonly path: string
  /** The HTTP status; that of its code for a call. */
  readonly status: number
}

/** Ends the span of a request, if it has one. */
export function endSpan({ span, operation, mode, protocol, grpcStatus }: RequestRecord, { method, path, status }: EndedRequest): void {
  const rpc = protocol && grpcStatus ? { protocol, path, code: CODES[grpcStatus].number } : undefined
  span?.end({ operation, mode, method, status, failed: hasFailed(status), rpc })
}
