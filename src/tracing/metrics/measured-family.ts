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
