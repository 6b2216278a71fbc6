import {
  AggregatorRegistry,
  Counter,
  Gauge,
  type Metric,
  type OpenMetricsContentType,
  type PrometheusContentType,
  Registry,
} from 'prom-client'
import type { Exemplar, MetricValues, Series } from './metrics.ts'

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

interface WorkerMetrics {
  /** The place of the worker, from 1. */
  readonly place: number
  readonly values: MetricValues
}

/** What a worker counted lives on when it has ended. What it was is over. */
const COUNTED: ReadonlySet<unknown> = new Set(['counter', 'histogram'])

/** Adds what a worker counted that has ended to what earlier ones did, so that no counter runs backwards. */
export function withEnded(earlier: MetricValues, last: MetricValues): Promise<MetricValues> {
  const counted = last.filter(({ type }) => COUNTED.has(type))
  return aggregated([earlier, counted])
}

interface MergedSources {
  readonly supervisor: MetricValues
  readonly workers: readonly WorkerMetrics[]
  /** What workers counted that have ended (`withEnded`). */
  readonly ended: MetricValues
  /** Workers that listen, and those that died since the start. */
  readonly listening: number
  readonly deaths: number
}

/**
 * Returns the metrics of a supervisor and its workers as if they were one process. Each metric says how (`aggregator`): most are added up, of some the highest counts, and `first` is what the supervisor alone says.
 */
export async function mergedMetrics({ supervisor, workers, ended, listening, deaths }: MergedSources): Promise<MetricValues> {
  const said = [...workers.map(({ values }) => values), ended].map((values) => values.filter(({ aggregator }) => aggregator !== 'first'))
  const each = workers.flatMap(({ place, values }) => values.filter(({ name }) => name === LOOP).map((metric) => ofWorker(metric, place)))
  const crew = new Registry()
  new Gauge({ name: 'crosswalk_workers', help: 'Workers that listen', registers: [crew] }).set(listening)
  new Counter({ name: 'crosswalk_worker_deaths_total', help: 'Workers that ended by themselves', registers: [crew] }).inc(deaths)
  return aggregated([supervisor, ...said, each, await crew.getMetricsAsJSON()])
}

/** prom-client adds up values, but drops exemplars: each bucket keeps the newest. */
async function aggregated(lists: readonly MetricValues[]): Promise<MetricValues> {
  const newest = new Map<string, Exemplar>()
  for (const series of lists.flat().flatMap(({ values }) => values)) {
    const { exemplar } = series
    if (exemplar && exemplar.timestamp >= (newest.get(keyOf(series))?.timestamp ?? 0)) newest.set(keyOf(series), exemplar)
  }
  const sums: MetricValues = await AggregatorRegistry.aggregate([...lists]).getMetricsAsJSON()
  if (newest.size === 0) return sums
  const withExemplar = (series: Series): Series => ({ ...series, exemplar: newest.get(keyOf(series)) })
  return sums.map((sum) => (sum.type === ('histogram' as unknown) ? { ...sum, values: sum.values.map(withExemplar) } : sum))
}

function keyOf({ metricName, labels }: Series): string {
  return JSON.stringify([metricName, labels])
}

const LOOP = 'crosswalk_event_loop_utilization'

/** The highest value hides which worker it is. */
function ofWorker({ values, ...metric }: MetricValues[number], place: number): MetricValues[number] {
  const name = 'crosswalk_worker_event_loop_utilization'
  return { ...metric, name, values: values.map((one) => ({ ...one, labels: { worker: String(place) } })) }
}
