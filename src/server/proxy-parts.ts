import type { Logger } from 'pino'
import type { Agent } from 'undici'
import type { Certificate } from '../listen/certificate.ts'
import type { Migration } from '../modes/assemble.ts'
import type { Metrics } from '../routes/watch/metrics.ts'
import type { Tracing } from '../tracing/tracing.ts'

/** The parts that the proxy shares with the admin port. */
export interface ProxyParts {
  readonly pool: Agent
  readonly certificate: Certificate | undefined
  readonly migration: Migration
  readonly metrics: Metrics
  readonly log: Logger
  readonly tracing: Tracing | undefined
}
