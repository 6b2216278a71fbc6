import { entryOf } from './read-entries.ts'
import type { Entry } from './record.ts'
import { openBlocks, type RecordBlocks } from './record-blocks.ts'

/** What was read of record files. */
export interface ReadCount {
  /** Different entries. */
  entries: number
  /** Lines with an entry that another line had already: the files overlap. */
  repeated: number
  /** Lines that are no entry: torn by a crash or a full disk, or written by another program. */
  skipped: number
  /** Files with more lines that are no entry than entries. Nobody knows what they held. */
  unreadable: string[]
}

export const nothingRead = (): ReadCount => ({ entries: 0, repeated: 0, skipped: 0, unreadable: [] })

interface Dated {
  readonly at: number
  readonly entry: Entry
  readonly line: string
}

/**
 * Yields the different entries of record files in the order of their times, whatever the order of files and lines. Rejects if a file
 * cannot be read.
 *
 * The first pass finds the oldest time of every block; the second reads the blocks in the order of these times. An entry is given out when
 * no unread block can hold an older one. So memory holds the blocks that overlap in time: one or two of a file whose lines are nearly in
 * order. Repeated lines have the same time, so that only the entries of one millisecond are remembered to find them.
 */
export async function* mergedEntries(paths: readonly string[], count: ReadCount, bytes?: number): AsyncGenerator<Entry> {
  const files: RecordBlocks[] = []
  try {
    for (const path of paths) files.push(await openBlocks(path, bytes))
    for (const file of files) note(file, count)
    const isNew = createIsNew()
    for await (const dated of inOrder(files)) {
      const counts = isNew(dated)
      count[counts ? 'entries' : 'repeated'] += 1
      if (counts) yield dated.entry
    }
  } finally {
    for (const file of files) await file.close()
  }
}

function note({ path, entries, skipped }: RecordBlocks, count: ReadCount): void {
  count.skipped += skipped
  if (skipped > entries) count.unreadable.push(path)
}

async function* inOrder(files: readonly RecordBlocks[]): AsyncGenerator<Dated> {
  const blocks = files.flatMap((file) => file.blocks).sort((a, b) => a.from - b.from)
  let waiting: readonly Dated[] = []
  for (const [nth, block] of blocks.entries()) {
    waiting = [...waiting, ...datedOf(await block.lines())].sort(byTime)
    const until = blocks[nth + 1]?.from ?? Number.POSITIVE_INFINITY
    const later = waiting.findIndex(({ at }) => at >= until)
    const end = later < 0 ? waiting.length : later
    yield* waiting.slice(0, end)
    waiting = waiting.slice(end)
  }
}

function datedOf(lines: readonly string[]): readonly Dated[] {
  return lines.flatMap((line) => {
    const entry = entryOf(line)
    return entry ? [{ at: Date.parse(entry.at), entry, line }] : []
  })
}

/** In one millisecond, the calls come before the mismatch of their client, as they were recorded. The order of the rest means nothing. */
const RANKS: readonly Entry['kind'][] = ['note', 'rollout', 'traffic', 'tally', 'would-send', 'comparison']

function byTime(a: Dated, b: Dated): number {
  const ranked = a.at - b.at || RANKS.indexOf(a.entry.kind) - RANKS.indexOf(b.entry.kind)
  return ranked || (a.line < b.line ? -1 : a.line > b.line ? 1 : 0)
}

/**
 * Tells whether no line before had this entry, if the lines come in the order of their times. An entry is known by its id. Notes, calls
 * and unsent writes of older versions have none: they are known by their line.
 */
function createIsNew(): (dated: Dated) => boolean {
  let time = Number.NaN
  let known = new Set<string>()
  return ({ at, entry, line }) => {
    if (at !== time) known = new Set()
    time = at
    const key = entry.id ?? line
    if (known.has(key)) return false
    known.add(key)
    return true
  }
}
