import type { MetricObjectWithValues, MetricValue } from 'prom-client'

/** The trace of one observation, as prom-client writes it behind a bucket. */
export interface Exemplar {
  readonly labelSet: { readonly trace_id: string }
  /** Seconds that the observation took. */
  readonly value: number
  /** When it was made, in seconds since 1970. */
  readonly timestamp: number
}

/** One series. Those of a histogram have names of their own: `_bucket`, `_sum` and `_count`. */
export type Series = MetricValue<string> & { readonly metricName?: string; readonly exemplar?: Exemplar | undefined }

/** The metrics of one process as data, which processes can send to each other. */
export type MetricValues = MetricObjectWithValues<Series>[]
