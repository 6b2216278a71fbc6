import type { MetricValues } from '../../admin/metrics.ts'
import type { RecordFile } from '../../migrate/records/record-file.ts'
import type { Front } from './front.ts'

/** What one of several processes does differently (`workers`). */
export interface Role {
  /** A worker has no admin port: its supervisor has it. */
  readonly hasAdmin: boolean
  /** Takes the lines of the record file, if this process does not write it alone. */
  readonly records?: RecordFile | undefined
  /** The workers of a supervisor, which serves nobody itself. */
  readonly workers?: WorkersFront
}

/** The workers as one server. */
export interface WorkersFront extends Front {
  /** Somebody listens. */
  isServing(): boolean
  /** The metrics of all processes as those of one. */
  metricValues(supervisor: MetricValues): Promise<MetricValues>
}

/** A process without others does everything. */
export const ALONE: Role = { hasAdmin: true }
