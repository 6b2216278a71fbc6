import { isObject } from '../../tables/json.ts'
import { linesOf } from './lines.ts'
import type { Entry } from './record.ts'

/** What was read of record files. */
export interface ReadCount {
  entries: number
  /** Lines that are no entry: torn by a crash or a full disk, or written by another program. */
  skipped: number
}

const KINDS: ReadonlySet<unknown> = new Set<Entry['kind']>(['comparison', 'would-send', 'traffic', 'note'])

/** Yields the entries of a record file line by line, and counts the lines that it skips. Rejects if the file cannot be read. */
export async function* readEntries(path: string, count: ReadCount): AsyncGenerator<Entry> {
  for await (const line of linesOf(path)) {
    if (line === '') continue
    const entry = entryOf(line)
    if (entry) count.entries += 1
    else count.skipped += 1
    if (entry) yield entry
  }
}

function entryOf(line: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) && KINDS.has(value.kind) && typeof value.at === 'string' ? (value as unknown as Entry) : undefined
  } catch {
    return undefined
  }
}
