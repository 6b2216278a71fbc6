import type { Logger } from 'pino'
import type { Metrics, MetricValues } from '../../admin/metrics.ts'
import { type MetricsFormat, metricsText, unitOf } from '../../admin/metrics-text.ts'
import type { MetricsExport, StartExport } from '../../serve/watch/metrics-export.ts'
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

/** The units of OpenMetrics as UCUM writes them. */
const UCUM = { seconds: 's', bytes: 'By' } as const

/** Begins to send metrics to a collector, if that is wanted. */
export function exportOf(start: StartExport | undefined, { values }: ToldMetrics, log: Logger): MetricsExport | undefined {
  const families = async () =>
    (await values()).map((one) => {
      const unit = unitOf(one.name)
      return { ...one, unit: unit === undefined ? '' : UCUM[unit] }
    })
  return start?.({ values: families, log })
}
