import { randomUUID } from 'node:crypto'
import type { Comparison, Entry } from './record.ts'
import type { RecordFile } from './record-file.ts'
import { createRing } from './ring.ts'

export interface RecorderSettings {
  /** Maximum comparisons with differences that are kept in memory. */
  readonly memory: number
  /** Takes every entry as one line of JSON. Without it, entries are kept in memory only. */
  readonly file?: RecordFile
}

/** Keeps the results of comparing. Entries arrive redacted (`comparisonOf`). */
export interface Recorder {
  /** Never throws and never waits. */
  record(entry: Entry): void
  /** Returns the last comparisons with a difference, a failure or an open question, newest first. */
  comparisons(query: ComparisonQuery): readonly Comparison[]
  /** Entries that the file lost. */
  dropped(): number
  problem(): string | undefined
  /** Resolves when the file holds every entry. */
  close(): Promise<void>
}

export interface ComparisonQuery {
  /** An operation id; all operations without it. */
  readonly operation?: string | undefined
  readonly limit: number
}

/** Maximum characters of one line. `comparisonOf` stays far below it. */
const LONGEST_LINE = 256 * 1024

export function createRecorder({ memory, file }: RecorderSettings): Recorder {
  const ring = createRing<Comparison>(memory)
  let refused = 0
  return {
    record(entry) {
      if (entry.kind === 'comparison' && entry.outcome !== 'match') ring.add(entry)
      if (!file) return
      const line = lineOf(entry)
      if (line === undefined) refused += 1
      else file.add(line)
    },
    comparisons: ({ operation, limit }) => ring.last(limit, (one) => operation === undefined || one.operation === operation),
    dropped: () => refused + (file?.dropped() ?? 0),
    problem: () => file?.problem(),
    close: async () => file?.flush(),
  }
}

/** Gives every entry an id, so that overlapping files count it once. */
function lineOf(entry: Entry): string | undefined {
  try {
    const line = JSON.stringify(entry.id === undefined ? { ...entry, id: randomUUID() } : entry)
    return line.length > LONGEST_LINE ? undefined : line
  } catch {
    return undefined
  }
}
