import { misuse } from '../../errors.ts'
import { type CollectorLog, collectorIn, type OtelVariables } from './spans.ts'

/** One series of a metric. Those of a histogram have names of their own: `_bucket`, `_sum` and `_count`. */
export interface MeasuredSeries {
  readonly metricName?: string
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  readonly value: number
}

/** A metric as Prometheus knows it. Its numbers only grow, if it is a counter or a histogram, since the process started. */
export interface MeasuredFamily {
  readonly name: string
  readonly help: string
  /** `counter`, `gauge` or `histogram`. */
  readonly type: unknown
  /** As UCUM writes it: `s`, `By`, or nothing. */
  readonly unit: string
  readonly values: readonly MeasuredSeries[]
}

/** What an export of metrics reads, and where it says that the collector does not take them. */
export interface ExportSources {
  values(): Promise<readonly MeasuredFamily[]>
  readonly log: CollectorLog
}

/** Metrics that are sent at an interval. */
export interface MetricsExport {
  /** Sends them once more, and ends. */
  close(): Promise<void>
}

/** Begins to send metrics. */
export type StartExport = (sources: ExportSources) => MetricsExport

/** Where metrics are sent, and how often. */
export interface MetricsTarget {
  readonly url: string
  readonly intervalMs: number
}

/** OpenTelemetry's own default. */
const LOCAL = 'http://localhost:4318/v1/metrics'

/**
 * Returns what begins to send metrics, if OpenTelemetry's own variables ask for it. Otherwise no OpenTelemetry package is loaded.
 * Throws a sentence if a variable is wrong, or if these optional packages are not installed.
 */
export async function openMetricsExport(env: OtelVariables): Promise<StartExport | undefined> {
  const target = metricsTargetIn(env)
  if (!target) return undefined
  const { exportMetrics } = await import('./otlp-metrics.ts').catch((cause) => {
    throw new Error('metrics are to go to a collector, but OpenTelemetry cannot be loaded; run npm install with its optional packages', {
      cause,
    })
  })
  return (sources) => exportMetrics(target, sources)
}

/**
 * Metrics are sent if `OTEL_METRICS_EXPORTER` lists `otlp`, or if a collector of metrics is named and that variable is not set. A general
 * collector alone gets traces only, because many take nothing else.
 */
export function metricsTargetIn(env: OtelVariables): MetricsTarget | undefined {
  const { OTEL_SDK_DISABLED, OTEL_METRICS_EXPORTER: exporters, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: own } = env
  const isWanted = exporters ? exporters.split(',').some((name) => name.trim() === 'otlp') : Boolean(own)
  if (OTEL_SDK_DISABLED === 'true' || !isWanted) return undefined
  return { url: collectorIn(env, 'metrics') ?? LOCAL, intervalMs: intervalIn(env) }
}

function intervalIn({ OTEL_METRIC_EXPORT_INTERVAL: text }: OtelVariables): number {
  const interval = Number(text || 60_000)
  if (Number.isInteger(interval) && interval >= 100 && interval <= 86_400_000) return interval
  throw misuse(
    `OTEL_METRIC_EXPORT_INTERVAL is ${JSON.stringify(text)}, but it must be a whole number of milliseconds from 100 to 86400000.`,
  )
}
