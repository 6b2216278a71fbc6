import type { Logger } from 'pino'
import type { Agent } from 'undici'
import type { Metrics } from '../admin/metrics.ts'
import type { Migration } from '../migrate/migration.ts'
import type { Certificate } from '../serve/listen/listener.ts'
import type { Signal } from '../serve/signals.ts'
import type { Readiness } from '../serve/upstream/health.ts'
import type { Tracing } from '../serve/watch/spans.ts'

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
