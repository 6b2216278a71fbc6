import type { Metric, Registry } from 'prom-client'
import type { Exemplar } from './metric-values.ts'

/** The durations of one kind of thing. */
export interface Durations {
  /** `traceId` names a recorded trace of what took so long. Each bucket keeps the last one. */
  observe(label: string, seconds: number, traceId?: string): void
}

interface Spread {
  /** The count of each bucket by itself; the last is for durations beyond every bound. */
  readonly counts: number[]
  /** The last trace of each bucket. */
  readonly exemplars: (Exemplar | undefined)[]
  sum: number
}

export interface DurationsOptions {
  readonly name: string
  readonly help: string
  /** The name of the only label. */
  readonly label: string
  /** Upper bounds of the buckets in seconds, ascending. */
  readonly buckets: readonly number[]
  /** Milliseconds since 1970. The default is the machine's clock. */
  readonly now?: (() => number) | undefined
}

/**
 * A Prometheus histogram that counts by hand and is formatted on demand.
 * Every request and every call uses one; prom-client's own would build a key from its labels each time.
 */
export function createDurations(registry: Registry, { name, help, label, buckets, now = Date.now }: DurationsOptions): Durations {
  const spreads = new Map<string, Spread>()
  const values = () => [...spreads].flatMap(([value, spread]) => valuesOf(name, { [label]: value }, buckets, spread))
  const metric = {
    name,
    help,
    type: 'histogram',
    get: async () => ({ name, help, type: 'histogram', values: values(), aggregator: 'sum' }),
  }
  // A registry only asks a metric for its values.
  registry.registerMetric(metric as unknown as Metric)
  return {
    observe(value, seconds, traceId) {
      const spread = spreads.get(value) ?? { counts: new Array<number>(buckets.length + 1).fill(0), exemplars: [], sum: 0 }
      spreads.set(value, spread)
      let at = 0
      while (at < buckets.length && seconds > (buckets[at] ?? 0)) at += 1
      spread.counts[at] = (spread.counts[at] ?? 0) + 1
      spread.sum += seconds
      if (traceId !== undefined) spread.exemplars[at] = { labelSet: { trace_id: traceId }, value: seconds, timestamp: now() / 1000 }
    },
  }
}

function valuesOf(name: string, labels: Readonly<Record<string, string>>, buckets: readonly number[], { counts, exemplars, sum }: Spread) {
  let count = 0
  const below = [...buckets, '+Inf'].map((le, at) => {
    count += counts[at] ?? 0
    const exemplar = exemplars[at]
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count, ...(exemplar && { exemplar }) }
  })
  return [...below, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
}
