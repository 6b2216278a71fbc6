import type { MeasuredFamily } from './measured-family.ts'

/** What an export of metrics reads, and where it says that the collector does not take them. */
export interface ExportSources {
  values(): Promise<readonly MeasuredFamily[]>
  readonly log: { warn(text: string): void; info(text: string): void }
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
