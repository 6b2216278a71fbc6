import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Agent } from 'undici'
import type { CodeName } from '../errors/codes.ts'
import type { Report } from '../modes/report.ts'
import type { Refused } from './admission.ts'
import type { Exchange } from './exchange.ts'
import { watchMigration } from './migration-metrics.ts'
import { outcomeOf } from './outcome.ts'
import { watchProcess } from './process-metrics.ts'

export interface Metrics {
  begin(): void
  end(exchange: Exchange, status: number, seconds: number): void
  /** A v2 call is over; `status` is undefined when no answer came. */
  endCall(status: number | undefined, seconds: number): void
  /** Counts the status of a gRPC call, beside `end`. */
  endGrpc(code: CodeName): void
  /** A request that was not let in. */
  refused(why: Refused): void
  /** The Prometheus text format. */
  text(): Promise<string>
}

/** What is asked when somebody reads the metrics. */
export interface MetricsSources {
  readonly pool: Agent
  readonly report: Pick<Report, 'evidence'>
  /** End of the certificate in seconds since 1970, with TLS. */
  readonly expiry: number | undefined
}

/** One registry for each server, so that two servers in one process do not count together. Labels are operation ids: a bounded set. */
export function createMetrics({ pool, report, expiry }: MetricsSources): Metrics {
  const registry = new Registry()
  const { requests, duration, calls, callDuration, parsedPages, dropped, inFlight, grpc } = createInstruments([registry])
  const refused = countRefusals([registry])
  watchPool(pool, [registry])
  watchMigration(report, [registry])
  watchProcess([registry])
  if (expiry !== undefined) watchCertificate(expiry, [registry])
  return {
    begin: () => inFlight.inc(),
    end({ operation, mode, ...exchange }, status, seconds) {
      inFlight.dec()
      requests.inc({ operation, mode, outcome: outcomeOf(status) })
      duration.observe({ operation }, seconds)
      if (exchange.calls > 0) calls.inc({ operation }, exchange.calls)
      if (exchange.parsedPages > 0) parsedPages.inc({ operation }, exchange.parsedPages)
      if (exchange.dropped.length > 0) dropped.inc({ operation }, exchange.dropped.length)
    },
    endCall: (status, seconds) => callDuration.observe({ outcome: status === undefined ? 'unanswered' : outcomeOf(status) }, seconds),
    endGrpc: (code) => grpc.inc({ code }),
    refused,
    text: () => registry.metrics(),
  }
}

/** Seconds; from a call within one machine to a list that takes its whole deadline. */
const BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60]

function createInstruments(registers: Registry[]) {
  const labelNames = ['operation'] as const
  return {
    requests: new Counter({
      name: 'crosswalk_requests_total',
      help: 'Requests by operation, mode and outcome',
      labelNames: ['operation', 'mode', 'outcome'],
      registers,
    }),
    duration: new Histogram({
      name: 'crosswalk_request_duration_seconds',
      help: 'Time from the request to the last byte of its answer',
      labelNames,
      buckets: BUCKETS,
      registers,
    }),
    calls: new Counter({ name: 'crosswalk_v2_calls_total', help: 'Calls made to v2', labelNames, registers }),
    callDuration: new Histogram({
      name: 'crosswalk_v2_call_duration_seconds',
      help: 'Time from a v2 call to the last byte of its answer',
      labelNames: ['outcome'],
      buckets: BUCKETS,
      registers,
    }),
    parsedPages: new Counter({
      name: 'crosswalk_parsed_pages_total',
      help: 'Pages of v2 lists that were not as the fast path expects them and were parsed instead',
      labelNames,
      registers,
    }),
    dropped: new Counter({
      name: 'crosswalk_unknown_parameters_total',
      help: 'Query parameters that were dropped because the operation does not know them',
      labelNames,
      registers,
    }),
    grpc: new Counter({ name: 'crosswalk_grpc_calls_total', help: 'gRPC calls by status', labelNames: ['code'], registers }),
    inFlight: new Gauge({ name: 'crosswalk_requests_in_flight', help: 'Requests being served', registers }),
  }
}

function watchCertificate(expiry: number, registers: Registry[]): void {
  const help = 'When the certificate of the proxy ends, in seconds since 1970'
  new Gauge({ name: 'crosswalk_certificate_expiry_seconds', help, registers }).set(expiry)
}

const POOL_STATES = ['connected', 'free', 'pending', 'queued', 'running'] as const

function watchPool(pool: Agent, registers: Registry[]): void {
  new Gauge({
    name: 'crosswalk_pool',
    help: 'Connections (connected, free) and requests (pending, queued, running) of the pool, by origin',
    labelNames: ['origin', 'state'],
    registers,
    collect() {
      this.reset()
      for (const [origin, stats] of Object.entries(pool.stats)) {
        const known = stats as Partial<Record<(typeof POOL_STATES)[number], number | boolean>>
        for (const state of POOL_STATES) this.set({ origin, state }, Number(known[state] ?? 0))
      }
    },
  })
}

/** Counted by hand and told when asked: under overload a labelled counter would be a good part of what a refusal costs. */
function countRefusals(registers: Registry[]): (why: Refused) => void {
  const counts = new Map<Refused, number>()
  new Counter({
    name: 'crosswalk_refused_total',
    help: 'Requests that were not let in, by the limit they met (overload, caller-in-flight, caller-rate)',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset()
      for (const [reason, count] of counts) this.inc({ reason }, count)
    },
  })
  return (why) => void counts.set(why, (counts.get(why) ?? 0) + 1)
}
