import type { CodeName } from '../../../errors.ts'
import type { Cut } from '../../../listen/times/time-limits.ts'
import type { RequestRecord } from '../../../serve/request-record.ts'
import type { Refused } from '../../lifetime/admission.ts'

/** What serving counts. Serving says what happened; the metrics of the admin port are one that counts it. */
export interface RequestMetrics {
  begin(): void
  end(record: RequestRecord, status: number, seconds: number): void
  /** Counts a finished v2 call; `status` is undefined if no answer arrived, `traceId` if its trace is not recorded. */
  endCall(status: number | undefined, seconds: number, traceId: string | undefined): void
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
