import { type Aggregator, Counter, Gauge, Registry } from 'prom-client'
import type { Agent } from 'undici'
import type { MigrationReport } from '../../../migrate/migration.ts'
import type { NotifyCounts } from '../../../notify/notifier.ts'
import type { Refused } from '../../../serve/http/admission.ts'
import type { Health } from '../../../serve/upstream/health.ts'
import { outcomeOf, type RequestMetrics } from '../../../serve/watch/access-log.ts'
import { watchMigration } from '../series/migration-metrics.ts'
import { type ModesMetricsSources, watchModes } from '../series/modes-metrics.ts'
import { watchNotify } from '../series/notify-metrics.ts'
import { watchProcess } from '../series/process-metrics.ts'
import { type StoreMetricsSources, watchStore } from '../series/store-metrics.ts'
import { watchHealth, watchPool } from '../series/upstream-metrics.ts'
import type { MetricValues } from './metric-values.ts'
import { createClocks } from './request-clocks.ts'
import { createRequestCounters } from './request-counters.ts'

/** The metrics of a process. */
export interface Metrics extends RequestMetrics {
  /** All of them as data: `metricsText` writes them. */
  values(): Promise<MetricValues>
}

/** The sources that are read when the metrics are. */
export interface MetricsSources extends ModesMetricsSources {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly pool: Agent
  readonly report: Pick<MigrationReport, 'evidence'>
  readonly health: () => Promise<Health>
  /** The certificate's expiry in seconds since 1970, with TLS. */
  readonly expiry: (() => number) | undefined
  /** What became of events; absent without `notify.url`. */
  readonly notified: (() => NotifyCounts) | undefined
  /** The fleet, if replicas share a store. */
  readonly joined?: StoreMetricsSources | undefined
}

/** Each server has its own registry, so that two servers in one process count separately. Labels are operation ids: a bounded set. */
export function createMetrics({ now, pool, report, health, expiry, notified, joined, ...sources }: MetricsSources): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const requests = createRequestCounters(registry)
  const { duration, callDuration } = createClocks(registry, now)
  const grpc = new Counter({ name: 'crosswalk_grpc_calls_total', help: 'gRPC calls by status', labelNames: ['code'], registers })
  const refused = countRefusals(registers)
  const cut = new Counter({ name: 'crosswalk_cut_total', help: CUT, labelNames: ['reason'], registers })
  const unrelayable = new Counter({ name: 'crosswalk_unrelayable_total', help: UNRELAYABLE, labelNames: ['carrier'], registers })
  let inFlight = 0
  gauge('crosswalk_requests_in_flight', 'Requests being served', () => inFlight, registers)
  watchPool(pool, registers)
  watchHealth(health, registers)
  watchMigration(report, registers)
  watchModes(sources, registers)
  watchNotify(notified, registers)
  if (joined) watchStore(joined, registry)
  watchProcess(registers)
  if (expiry !== undefined) gauge('crosswalk_certificate_expiry_seconds', CERTIFICATE, expiry, registers, 'max')
  return {
    begin() {
      inFlight += 1
    },
    end(record, status, seconds) {
      inFlight -= 1
      requests.add(record, outcomeOf(status))
      duration.observe(record.operation, seconds, record.span?.recorded)
    },
    endCall: (status, seconds, traceId) => callDuration.observe(status === undefined ? 'unanswered' : outcomeOf(status), seconds, traceId),
    endGrpc: (code) => grpc.inc({ code }),
    refused,
    cut: (reason) => cut.inc({ reason }),
    unrelayable: (carrier) => unrelayable.inc({ carrier }),
    watchWebSockets: (count) => gauge('crosswalk_web_sockets', 'WebSockets that are open, handshakes among them', count, registers),
    values: () => registry.getMetricsAsJSON(),
  }
}

const CUT = 'Clients that were cut off, by what they took too long for (body, write)'

const UNRELAYABLE = 'Answers of v2 or v1 whose head no client could be given, by carrier (native, v1, grpc)'

const CERTIFICATE = 'When the certificate of the proxy ends, in seconds since 1970'

function gauge(name: string, help: string, read: () => number, registers: Registry[], aggregator: Aggregator = 'sum'): void {
  new Gauge({
    name,
    help,
    registers,
    aggregator,
    collect() {
      this.set(read())
    },
  })
}

/** Counts by hand and updates on demand: under overload, a labelled counter would be a large part of a refusal's cost. */
function countRefusals(registers: Registry[]): (why: Refused) => void {
  const counts = new Map<Refused, number>()
  new Counter({
    name: 'crosswalk_refused_total',
    help: 'Requests that were not let in, by the limit they met (overload, caller-in-flight, caller-rate, bodies, connections)',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset()
      for (const [reason, count] of counts) this.inc({ reason }, count)
    },
  })
  return (why) => void counts.set(why, (counts.get(why) ?? 0) + 1)
}
