import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http'
import { JsonMetricsSerializer, MetricsExporterMetricsHelper } from '@opentelemetry/otlp-transformer'
import {
  AggregationTemporality,
  MeterProvider,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import { systemReason } from '../../errors.ts'
import { processResource } from '../process-resource.ts'
import { metricDataOf } from './metric-data.ts'
import type { ExportSources, MetricsExport, MetricsTarget } from './metrics-export.ts'

/** Milliseconds in which metrics must be accepted; a shutdown waits no longer. */
const TIMEOUT = 3000

/**
 * Sends metrics to an OTLP collector. They are read from where `/metrics` reads them, so that both tell the same. Headers, compression and
 * resource follow OpenTelemetry's own variables.
 */
export function exportMetrics({ url, intervalMs }: MetricsTarget, { values, log }: ExportSources): MetricsExport {
  const resource = processResource()
  const tell = createTell(url, log)
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

type Tell = (error: unknown) => void

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
    export(metrics, done) {
      sender.export(metrics, (result) => {
        tell(result.error)
        done(result)
      })
    },
    forceFlush: () => sender.forceFlush(),
    shutdown: () => sender.shutdown(),
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
  }
}

/** Logs once that the collector takes nothing, and once that it does again. Neither says what is secret in the address. */
function createTell(url: string, log: ExportSources['log']): Tell {
  const { origin, pathname } = new URL(url)
  let isDown = false
  return (error) => {
    if ((error !== undefined) === isDown) return
    isDown = error !== undefined
    if (isDown) log.warn(`metrics cannot be sent to ${origin}${pathname}: ${reasonOf(error)}; they are tried again, and /metrics has them`)
    else log.info(`metrics are taken again at ${origin}${pathname}`)
  }
}

/** An error of the exporter has the status of the answer as its code. */
function reasonOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'number' ? `it answers ${code}` : systemReason(error)
}
