import type { Call } from '../tables/plan/plan.ts'
import type { CallWatch } from '../upstream/v2/call-context.ts'
import type { RequestRecord } from './request-record.ts'

/** Counts a finished call to v2. `status` is undefined if no answer arrived. */
export type EndCall = (status: number | undefined, seconds: number) => void

/** Counts and times the v2 calls of one request, and makes them children of its span. `heard` takes the status of each answer. */
export function watchCalls(exchange: RequestRecord, endCall: EndCall, heard: (status: number) => void): (call: Call) => CallWatch {
  return ({ method, path }) => {
    const started = performance.now()
    const span = exchange.span?.call(method, path)
    exchange.calls += 1
    return {
      traceparent: span?.traceparent,
      ended(status) {
        endCall(status, (performance.now() - started) / 1000)
        span?.end(status)
        if (status !== undefined) heard(status)
      },
    }
  }
}
