import { type HrTime, ValueType } from '@opentelemetry/api'
import { AggregationTemporality, type DataPoint, DataPointType, type Histogram, type MetricData } from '@opentelemetry/sdk-metrics'
import type { MeasuredFamily, MeasuredSeries } from './measured-family.ts'

/** The time that all points of one export have, in milliseconds since 1970. */
export interface PointTimes {
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
