import { WEIGHTS } from '../../../src/migrate/evidence/evidence.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import { readEntries } from '../../../src/migrate/records/record-file.ts'

/** What one caller's requests of one kind said. */
export interface RecordedPair {
  readonly operation: string
  readonly isBad: boolean
  /** The files that hold it, and the time of the first record in milliseconds since 1970. */
  readonly files: ReadonlySet<string>
  readonly firstAt: number
}

/**
 * Reads all record files and keeps the first record of each pair of caller and kind of request: the slowest way to count. All records are
 * of the same ten minutes.
 */
export async function recordedPairs(paths: readonly string[]): Promise<readonly RecordedPair[]> {
  const records: (readonly [file: string, one: Comparison])[] = []
  for (const path of paths) {
    for await (const entry of readEntries(path)) {
      if (entry.kind === 'comparison' && WEIGHTS[entry.outcome] !== 'nothing') records.push([path, entry])
    }
  }
  const pairs = new Map<string, RecordedPair & { readonly files: Set<string> }>()
  for (const [file, { operation, caller, shape, outcome, at }] of records.sort(([, a], [, b]) => Date.parse(a.at) - Date.parse(b.at))) {
    const key = `${operation} ${caller} ${shape}`
    const known = pairs.get(key)
    if (known) known.files.add(file)
    else pairs.set(key, { operation, isBad: WEIGHTS[outcome] === 'bad', files: new Set([file]), firstAt: Date.parse(at) })
  }
  return [...pairs.values()]
}

/** Observations, and those against v2, by operation. */
export function countsOf(pairs: readonly RecordedPair[]): Readonly<Record<string, { readonly n: number; readonly bad: number }>> {
  const counts: Record<string, { n: number; bad: number }> = {}
  for (const { operation, isBad } of pairs) {
    counts[operation] ??= { n: 0, bad: 0 }
    counts[operation].n += 1
    counts[operation].bad += Number(isBad)
  }
  return counts
}
