import { type HrTime, ValueType } from '@opentelemetry/api'
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http'
import { JsonMetricsSerializer, MetricsExporterMetricsHelper } from '@opentelemetry/otlp-transformer'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import type { ExportSources, MeasuredFamily, MeasuredSeries, MetricsExport, MetricsTarget } from './metrics-export.ts'
import { createTell, processResource, type Tell, telling } from './otlp-resource.ts'

/** The time that all points of one export have, in milliseconds since 1970. */
interface PointTimes {
  readonly started: number
  readonly now: number
}

/**
 * Returns metrics of Prometheus in the form of OpenTelemetry: the names unaltered, numbers since the start, and the count of each bucket by
 * itself. Values that are not known (NaN) are left out.
 */
export function metricDataOf(families: readonly MeasuredFamily[], { started, now }: PointTimes): MetricData[] {
  const times = { startTime: hrTime(started), endTime: hrTime(now) }
  return families.map((family) => dataOf(family, times)).filter(({ dataPoints }) => dataPoints.length > 0)
}

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>

function dataOf({ name, help, type, unit, values }: MeasuredFamily, times: Times): MetricData {
  const descriptor = { name, description: help, unit, valueType: ValueType.DOUBLE }
  const shared = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  if (type === 'histogram') return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(values, times) }
  const known = values.filter(({ value }) => !Number.isNaN(value))
  const dataPoints = known.map(({ labels, value }) => ({ ...times, attributes: attributesOf(labels), value }))
  return type === 'counter'
    ? { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...shared, dataPointType: DataPointType.GAUGE, dataPoints }
}

/** The series of one histogram that belong together. */
interface Spread {
  readonly attributes: Record<string, string>
  /** Upper bounds and how many lie below, ascending. */
  readonly below: (readonly [bound: number, count: number])[]
  sum: number
  count: number
}

function histograms(values: readonly MeasuredSeries[], times: Times): DataPoint<Histogram>[] {
  const spreads = new Map<string, Spread>()
  for (const {
    metricName = '',
    labels: { le, ...labels },
    value,
  } of values) {
    const attributes = attributesOf(labels)
    const key = JSON.stringify(attributes)
    const spread = spreads.get(key) ?? { attributes, below: [], sum: 0, count: 0 }
    spreads.set(key, spread)
    if (le !== undefined) spread.below.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value])
    else if (metricName.endsWith('_sum')) spread.sum = value
    else spread.count = value
  }
  return [...spreads.values()].map(({ attributes, below, sum, count }) => {
    const counts = below.map(([, value], at) => value - (below[at - 1]?.[1] ?? 0))
    const boundaries = below.map(([bound]) => bound).filter(Number.isFinite)
    return { ...times, attributes, value: { buckets: { boundaries, counts }, sum, count } }
  })
}

function attributesOf(labels: MeasuredSeries['labels']): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))
}

function hrTime(ms: number): HrTime {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

/** Milliseconds in which metrics must be accepted; a shutdown waits no longer. */
const TIMEOUT = 3000

/**
 * Sends metrics to an OTLP collector. They are read from where `/metrics` reads them, so that both tell the same. Headers, compression and
 * resource follow OpenTelemetry's own variables.
 */
export function exportMetrics({ url, intervalMs }: MetricsTarget, { values, log }: ExportSources): MetricsExport {
  const resource = processResource()
  const tell = createTell('metrics', 'they are tried again, and /metrics has them', url, log)
  const producer: MetricProducer = {
    async collect() {
      const times = { started: performance.timeOrigin, now: Date.now() }
      const families = await values().catch((error: unknown) => {
        tell(error)
        return []
      })
      return {
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'crosswalk' }, metrics: metricDataOf(families, times) }] },
        errors: [],
      }
    },
  }
  const reader = new PeriodicExportingMetricReader({
    exporter: createExporter(url, tell),
    metricProducers: [producer],
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(intervalMs, 2 * TIMEOUT),
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return { close: () => provider.shutdown({ timeoutMillis: TIMEOUT }).catch(() => {}) }
}

/** What `@opentelemetry/exporter-metrics-otlp-http` consists of. It has no version that goes with those of the other packages. */
function createExporter(url: string, tell: Tell): PushMetricExporter {
  const options = convertLegacyHttpOptions({ url, timeoutMillis: TIMEOUT }, 'METRICS', 'v1/metrics', { 'Content-Type': 'application/json' })
  const sender = createOtlpHttpExportDelegate(
    options,
    JsonMetricsSerializer,
    'otlp_http_metric_exporter',
    MetricsExporterMetricsHelper,
    undefined,
  )
  return {
    export: telling(sender, tell),
    forceFlush: () => sender.forceFlush(),
    shutdown: () => sender.shutdown(),
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
  }
}
