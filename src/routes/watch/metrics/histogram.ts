import type { Metric, Registry } from 'prom-client'

/** The durations of one kind of thing. */
export interface Durations {
  observe(label: string, seconds: number): void
}

interface Spread {
  /** The count of each bucket by itself; the last is for durations beyond every bound. */
  readonly counts: number[]
  sum: number
}

export interface DurationsOptions {
  readonly name: string
  readonly help: string
  /** The name of the only label. */
  readonly label: string
  /** Upper bounds of the buckets in seconds, ascending. */
  readonly buckets: readonly number[]
}

/**
 * A Prometheus histogram that counts by hand and is formatted on demand.
 * Every request and every call uses one; prom-client's own would build a key from its labels each time.
 */
export function createDurations(registry: Registry, { name, help, label, buckets }: DurationsOptions): Durations {
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
    observe(value, seconds) {
      const spread = spreads.get(value) ?? { counts: new Array<number>(buckets.length + 1).fill(0), sum: 0 }
      spreads.set(value, spread)
      let at = 0
      while (at < buckets.length && seconds > (buckets[at] ?? 0)) at += 1
      spread.counts[at] = (spread.counts[at] ?? 0) + 1
      spread.sum += seconds
    },
  }
}

function valuesOf(name: string, labels: Readonly<Record<string, string>>, buckets: readonly number[], { counts, sum }: Spread) {
  let count = 0
  const below = [...buckets, '+Inf'].map((le, at) => {
    count += counts[at] ?? 0
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
  })
  return [...below, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
}
