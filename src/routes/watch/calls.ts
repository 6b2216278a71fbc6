import type { Call } from '../../tables/plan/plan.ts'
import type { CallWatch } from '../../upstream/send.ts'
import type { Exchange } from '../exchange.ts'
import type { Metrics } from './metrics.ts'

/** Counts and times the v2 calls of one request, makes them children of its span, and tells the status of each answer. */
export function watchCalls(exchange: Exchange, metrics: Metrics, heard: (status: number) => void): (call: Call) => CallWatch {
  return ({ method, path }) => {
    const started = performance.now()
    const span = exchange.span?.call(method, path)
    exchange.calls += 1
    return {
      traceparent: span?.traceparent,
      ended(status) {
        metrics.endCall(status, (performance.now() - started) / 1000)
        span?.end(status)
        if (status !== undefined) heard(status)
      },
    }
  }
}
