import { type Metric, type OpenMetricsContentType, type PrometheusContentType, Registry } from 'prom-client'
import type { MetricValues, Series } from './metric-values.ts'

/** How metrics are written: the text format of Prometheus, or OpenMetrics 1.0, which has units and exemplars. */
export type MetricsFormat = 'prometheus' | 'openmetrics'

export const CONTENT_TYPES = {
  prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
} as const satisfies Record<MetricsFormat, string>

/** Writes metrics as a text: `await metricsText(await metrics.values(), 'prometheus')`. */
export async function metricsText(values: MetricValues, format: MetricsFormat): Promise<string> {
  const registry = new Registry<OpenMetricsContentType | PrometheusContentType>()
  registry.setContentType(CONTENT_TYPES[format])
  for (const one of values) registry.registerMetric(asMetric(format === 'openmetrics' ? inOpenMetrics(one) : one))
  const text = await registry.metrics()
  return format === 'openmetrics' ? text.replaceAll(HELP, (line, name: string) => `${unitLine(name)}${line}`) : text
}

const HELP = /^# HELP (\S+) /gm

/** prom-client writes no units. */
function unitLine(name: string): string {
  const unit = unitOf(name)
  return unit === undefined ? '' : `# UNIT ${name} ${unit}\n`
}

/** OpenMetrics names a counter without its `_total`, which prom-client adds to its series. */
function inOpenMetrics(one: MetricValues[number]): MetricValues[number] {
  return { ...one, name: one.name.replace(/_total$/, ''), values: one.values.map(canonical) }
}

/** Returns the unit in the name of a metric: `seconds` or `bytes`. */
export function unitOf(name: string): 'seconds' | 'bytes' | undefined {
  return /_(seconds|bytes)(?:_total)?$/.exec(name)?.[1] as 'seconds' | 'bytes' | undefined
}

/** OpenMetrics compares bounds as texts: 10 is written `10.0`. */
function canonical(series: Series): Series {
  const { le } = series.labels
  return Number.isInteger(le) ? { ...series, labels: { ...series.labels, le: `${le}.0` } } : series
}

/** A registry only asks a metric for its values. */
function asMetric(values: MetricValues[number]): Metric {
  return { ...values, get: async () => values } as unknown as Metric
}
