import type { Comparison, Entry } from './record.ts'
import type { RecordFile } from './record-file.ts'
import { createRing } from './ring.ts'

export interface RecorderSettings {
  /** Comparisons with differences that are kept in memory. */
  readonly memory: number
  /** Where every entry goes as one line of JSON; memory alone without it. */
  readonly file?: RecordFile
}

/** Keeps what was compared. Entries are redacted before they come here (`comparisonOf`). */
export interface Recorder {
  /** Never throws and never waits. */
  record(entry: Entry): void
  /** The last comparisons with a difference, a failure, or an open question, newest first. */
  comparisons(query: ComparisonQuery): readonly Comparison[]
  /** Entries that the file lost. */
  dropped(): number
  problem(): string | undefined
  /** Resolves when the file has everything. */
  close(): Promise<void>
}

export interface ComparisonQuery {
  /** An operation id; all of them without it. */
  readonly operation?: string | undefined
  readonly limit: number
}

/** Longer entries are not worth a line: `comparisonOf` keeps far below it. In characters. */
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

function lineOf(entry: Entry): string | undefined {
  try {
    const line = JSON.stringify(entry)
    return line.length > LONGEST_LINE ? undefined : line
  } catch {
    return undefined
  }
}
