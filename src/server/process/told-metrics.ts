import { type MetricsFormat, metricsText } from '../../routes/watch/metrics/exposition.ts'
import type { MetricValues } from '../../routes/watch/metrics/metric-values.ts'
import type { Metrics } from '../../routes/watch/metrics/metrics.ts'
import type { WorkersFront } from './role.ts'

/** What `/metrics` tells, of this process or of a supervisor and its workers. */
export interface ToldMetrics {
  values(): Promise<MetricValues>
  text(format: MetricsFormat): Promise<string>
}

/** Returns what is told of the metrics of this process, together with those of its workers if it has any. */
export function metricsOf(own: Pick<Metrics, 'values'>, workers: Pick<WorkersFront, 'metricValues'> | undefined): ToldMetrics {
  const values = workers ? async () => workers.metricValues(await own.values()) : own.values
  return { values, text: async (format) => metricsText(await values(), format) }
}
