import type { Logger } from 'pino'
import type { Agent } from 'undici'
import type { Signal } from '../limits/signal.ts'
import type { Certificate } from '../listen/certificate.ts'
import type { Migration } from '../modes/assemble.ts'
import type { Readiness } from '../routes/admin/ready.ts'
import type { Metrics } from '../routes/watch/metrics/metrics.ts'
import type { Tracing } from '../tracing/tracing.ts'

/** The parts that the proxy shares with the admin port. */
export interface ProxyParts {
  readonly pool: Agent
  readonly certificate: Certificate | undefined
  readonly migration: Migration
  readonly metrics: Metrics
  readonly log: Logger
  readonly tracing: Tracing | undefined
  /** The same that `/readyz` tells. */
  readonly readiness: () => Promise<Readiness>
  /** Fires when the process begins to leave. */
  readonly leaving: Signal
}
