import type { Migration } from '../migrate/migration.ts'
import type { Sampler } from '../migrate/observe/observe.ts'
import type { Clocks } from '../serve/bounds.ts'
import type { Strays } from './call/ask-function.ts'
import type { Mismatch } from './mismatch.ts'
import type { SnapshotLimits } from './values/snapshot.ts'

/** What all functions of a group share. */
export interface ComparisonMeans {
  readonly migration: Migration
  readonly sampler: Sampler
  readonly strays: Strays
  readonly learning: (name: string) => boolean
  readonly clocks: Clocks
  readonly shown: SnapshotLimits
  readonly deadlineMs: number
  /** True if arguments may be recorded. */
  readonly showsValues: boolean
  /** Resolves when the earlier records are counted. */
  readonly restored: Promise<void>
  readonly isClosed: () => boolean
  readonly onMismatch: (mismatch: Mismatch) => void
  /** Warns once of each thing that is wrong with a name. */
  readonly warn: (name: string, text: string) => void
}
