import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type FileHandle, open, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemReason } from '../../errors.ts'
import { opened, piecesOf, textOf, untilHopeless } from '../../files.ts'
import type { Inventory } from '../clients.ts'
import type { ExpectedDifferences } from '../compare/expected.ts'
import { type Evidence, isRepeat, many, repeatOf } from '../evidence/evidence.ts'
import { entryOf, lastingLines } from './read-entry.ts'
import type { Comparison, Entry, TrafficEntry } from './record.ts'

/** Maximum characters of a line. V8 records every character that a quoted group matches, and runs out of space at ten million. */
export const LONGEST = 1_000_000

/**
 * Yields the lines of a text, which may be larger than memory, without `\n` or `\r\n`. A line that is too long is cut, so that it cannot be
 * read. JSON may contain U+2028 and U+2029 unescaped, and the line reader of Node 24 ends a line there.
 */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split('\n')
    const lines = [rest.length < LONGEST ? cut(rest + first) : rest, ...others.map(cut)]
    rest = lines.pop() ?? ''
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
  }
  if (rest !== '') yield rest
}

function cut(line: string): string {
  return line.length > LONGEST ? line.slice(0, LONGEST) : line
}

/** Keeps the last items, up to a capacity. */
export function createRing<T>(capacity: number) {
  const items: T[] = []
  let next = 0
  return {
    add(item: T): void {
      items[next] = item
      next = (next + 1) % capacity
    },
    /** Returns the last `limit` items that pass, newest first. */
    last(limit: number, passes: (item: T) => boolean = () => true): readonly T[] {
      const newest = [...items.slice(next), ...items.slice(0, next)].reverse()
      return newest.filter(passes).slice(0, limit)
    },
  }
}

/** Yields the entries of one record file in the order of its lines. Rejects if the file cannot be read. */
export async function* readEntries(path: string): AsyncGenerator<Entry> {
  let entries = 0
  for await (const line of linesOf(textOf(untilHopeless(piecesOf(path), () => entries > 0, noEntryIn(path))))) {
    const entry = entryOf(line)
    if (!entry) continue
    entries += 1
    yield entry
  }
}

function noEntryIn(path: string): string {
  return `${path} is not a record file: there is no entry`
}

const TABLES = fileURLToPath(new URL('../../../mappings', import.meta.url))

/**
 * Returns a hash of the mapping tables of this process: what they answer is another matter than what others answer. `module` has tables of
 * somebody else.
 */
export function tablesHash(module: string | undefined): string {
  const files = readdirSync(TABLES, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:js|ts|json)$/.test(name))
  const hash = createHash('sha256')
  for (const name of files.sort()) hash.update(name).update(readFileSync(join(TABLES, name)))
  if (module !== undefined) hash.update(readFileSync(module))
  return hash.digest('hex').slice(0, 12)
}

/** What a process counts: answers by these tables, of this v2. */
export interface EpochOrigin {
  /** Hash of the mapping tables. */
  readonly tables: string
  /** What the operator calls the v2 build. */
  readonly build?: string | undefined
}

export function epochHash({ tables, build = '' }: EpochOrigin): string {
  return createHash('sha256').update(`${tables}\n${build}`).digest('hex').slice(0, 12)
}

/** Some consecutive lines of a record file. */
interface RecordBlock {
  /** Time of its oldest entry, in milliseconds since 1970. */
  readonly from: number
  /** Reads its lines again; empty ones are left out. */
  lines(): Promise<readonly string[]>
}

type RecordBlocks = Awaited<ReturnType<typeof openBlocks>>

/** Bytes of a block: about 1,500 entries. A line that is longer is no entry. */
const BLOCK = 1024 * 1024

/**
 * Finds the times of a record file in blocks. The file stays open, so that its blocks stay what they were if it is renamed meanwhile.
 * Lines that a running proxy appends later belong to no block. A pipe cannot be read twice, so its lines are kept. Rejects if the file
 * cannot be read.
 */
export async function openBlocks(path: string, bytes: number = BLOCK) {
  const file = await opened(path)
  try {
    const isPipe = !(await file.stat()).isFile()
    /** Blocks with at least one entry. */
    const blocks: RecordBlock[] = []
    /** Numbers of lines that are entries, and that are not, and the place of the next block. */
    let [entries, skipped, start] = [0, 0, 0]
    let newest: Entry | undefined
    const pieces = blocksOf(file.createReadStream({ autoClose: false }), bytes)
    for await (const piece of isPipe ? untilHopeless(pieces, () => entries > 0, noEntryIn(path)) : pieces) {
      const lines = linesIn(piece)
      const read = lines.flatMap((line) => entryOf(line) ?? [])
      const from = read.reduce((oldest, { at }) => Math.min(oldest, Date.parse(at)), Number.POSITIVE_INFINITY)
      newest = newestOf([...(newest ? [newest] : []), ...read])
      if (read.length > 0) blocks.push({ from, lines: isPipe ? keep(lines) : readAgain(file, start, piece.length) })
      entries += read.length
      skipped += lines.length - read.length
      start += piece.length
    }
    return { path, blocks, entries, skipped, newest, close: () => file.close() }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Returns the newest of the entries that tell their epoch. */
function newestOf(entries: readonly Entry[]): Entry | undefined {
  return entries
    .filter(({ epoch }) => epoch !== undefined)
    .reduce<Entry | undefined>((newest, one) => (newest && Date.parse(newest.at) > Date.parse(one.at) ? newest : one), undefined)
}

/** Yields pieces that end with a line, of about this many bytes. */
async function* blocksOf(stream: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    held.push(chunk)
    size += chunk.length
    if (size < bytes) continue
    const all = Buffer.concat(held)
    const end = all.lastIndexOf('\n') + 1 || all.length
    yield all.subarray(0, end)
    held = [all.subarray(end)]
    size = all.length - end
  }
  if (size > 0) yield Buffer.concat(held)
}

/** JSON may hold U+2028 and U+2029 unescaped: they end no line. */
function linesIn(piece: Buffer): readonly string[] {
  const lines = piece.toString('utf8').split('\n')
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)).filter((line) => line !== '')
}

function keep(lines: readonly string[]): RecordBlock['lines'] {
  return async () => lines
}

/** A function of its own: one beside the lines of a block would hold them, and so all lines of the file. */
function readAgain(file: FileHandle, at: number, length: number): RecordBlock['lines'] {
  return async () => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
    return linesIn(buffer.subarray(0, bytesRead))
  }
}

interface RecordFileSettings {
  readonly path: string
  /** A file of this size is renamed to `<path>.1`, `<path>.2`, …; the highest number is the oldest. */
  readonly bytes: number
  /** Number of renamed files; the oldest is overwritten. All files together take at most `(files + 1) × bytes` and one batch. */
  readonly files: number
  /** Maximum lines that wait for the disk; further ones are dropped. */
  readonly waiting: number
}

export const RECORD_FILE: Omit<RecordFileSettings, 'path'> = { bytes: 64 * 1024 * 1024, files: 4, waiting: 10_000 }

export interface RecordFile {
  /** Takes one line, without its line break, and returns at once. Never throws. */
  add(line: string): void
  /** Resolves when all lines so far are written or dropped. */
  flush(): Promise<void>
  /** Lines that were lost because the disk was full, slow or missing. */
  dropped(): number
  /** Why the last write failed; undefined if it succeeded. */
  problem(): string | undefined
}

/** Returns the record file and the files set aside, as far as they exist. */
function recordFilesOf(file: Pick<RecordFileSettings, 'path' | 'files'> | undefined): readonly string[] {
  if (!file) return []
  return [file.path, ...Array.from({ length: file.files }, (_, nth) => `${file.path}.${nth + 1}`)].filter((path) => existsSync(path))
}

/** Rejects with a sentence if the file cannot be written. A misspelt folder must not cost a week of evidence. */
export async function checkRecordFile(path: string): Promise<void> {
  try {
    await (await openAlone(path)).close()
  } catch (error) {
    throw new Error(`records.file cannot be written: ${systemReason(error)}`)
  }
}

const OWNER_ALONE = 0o600
const OF_OTHERS = 0o077

/** Opens a file to append to it, and takes it from everybody but its owner. A device or a pipe stays as it is. */
async function openAlone(path: string): Promise<FileHandle> {
  const file = await open(path, 'a', OWNER_ALONE)
  try {
    const there = await file.stat()
    if (there.isFile() && (there.mode & OF_OTHERS) !== 0) await file.chmod(OWNER_ALONE)
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Appends lines to a file in batches. A failure never affects traffic: the lines of a failed batch are counted and dropped. */
export function createRecordFile(settings: RecordFileSettings): RecordFile {
  const append = createAppend(settings)
  let lines: string[] = []
  let dropped = 0
  let problem: string | undefined
  let writing: Promise<void> | undefined

  const drain = async () => {
    while (lines.length > 0) {
      const batch = lines
      lines = []
      problem = await append(batch)
      if (problem !== undefined) dropped += batch.length
    }
    writing = undefined
  }
  return {
    add(line) {
      if (lines.length >= settings.waiting) dropped += 1
      else lines.push(line)
      writing ??= drain()
    },
    flush: async () => writing,
    dropped: () => dropped,
    problem: () => problem,
  }
}

/**
 * Writes one batch with one write. Returns the problem instead of throwing.
 * A failed batch, or one of a process that died, may be written in part. The next batch begins with a line break, so that only the torn
 * line is lost.
 */
function createAppend({ path, bytes, files }: RecordFileSettings): (lines: readonly string[]) => Promise<string | undefined> {
  let size: number | undefined
  let torn = true
  /** Lines of an overwritten file that are to be written again. */
  let kept: readonly string[] = []
  return async (lines) => {
    try {
      // Another process that writes the file, as in a restart without a gap, may have renamed it already.
      if (size === undefined || size >= bytes) size = await sizeOf(path)
      if (size >= bytes) {
        const oldest = `${path}.${Math.max(files, 1)}`
        const lasting = existsSync(oldest) ? await lastingLines(linesOf(textOf(piecesOf(oldest))), bytes / KEPT) : []
        await rotate(path, files)
        kept = [...kept, ...lasting]
        size = 0
      }
      const text = `${torn && size > 0 ? '\n' : ''}${[...kept, ...lines].join('\n')}\n`
      torn = true
      const file = await openAlone(path)
      try {
        await file.appendFile(text)
      } finally {
        await file.close()
      }
      torn = false
      kept = []
      size += Buffer.byteLength(text)
      return undefined
    } catch (error) {
      size = undefined
      return systemReason(error)
    }
  }
}

/** The part of a file that wrong answers of an overwritten one may take, and the part that uses of v1 may. */
const KEPT = 8

/** Renames `path` to `path.1`, `path.1` to `path.2`, and so on. If no file is to be kept, only `path.1` exists. */
async function rotate(path: string, files: number): Promise<void> {
  for (let nth = Math.max(files, 1); nth > 0; nth--) await renamed(nth === 1 ? path : `${path}.${nth - 1}`, `${path}.${nth}`)
}

async function renamed(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
  }
}

/** Size of the existing file in bytes; 0 if there is none. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return 0
    throw error
  }
}

/** The state of a migration that its records can restore, after a restart or in a command. */
export interface Ledger {
  readonly evidence: Evidence
  readonly inventory: Inventory
  readonly expected: ExpectedDifferences
}

/**
 * Counts one recorded entry as it was counted when it was made. Entries must come in the order of their times. What came before an epoch that
 * a person began proves nothing.
 * Returns it as it counts here, where another replica may have the first of its pair, or nobody any more. Returns undefined for an entry
 * without a time, and for a comparison whose pair and outcome were counted.
 */
export function restore(entry: Entry, { evidence, inventory, expected }: Ledger): Entry | undefined {
  const at = Date.parse(entry.at)
  if (Number.isNaN(at)) return undefined
  if (entry.kind === 'note' && entry.what === 'epoch') evidence.reset()
  if (entry.kind === 'traffic') countTraffic(entry, inventory, at)
  if (entry.kind === 'tally') evidence.add(entry.operation, entry, at)
  if (entry.kind === 'rehearsal') evidence.observe({ ...entry, rehearsed: true }, at)
  if (entry.kind !== 'comparison') return entry
  const place = evidence.observe(entry, at)
  // Another replica has counted its pair and outcome: a process that had served the clients of both would have counted a repeat.
  if (!place) evidence.add(entry.operation, { comparisons: 1, repeats: repeatOf(entry) }, at)
  expected.count(entry.operation, entry.outcome, codesOf(entry))
  inventory.compared(entry)
  const { repeat: _, ...first } = entry
  return place && (isRepeat(entry, place) ? { ...first, repeat: true } : first)
}

function countTraffic(entry: TrafficEntry, inventory: Inventory, at: number): void {
  const { caller, operation, mode, protocol, agents, calls, stranger, requests = [] } = entry
  if (stranger) inventory.stranger(operation, calls)
  else inventory.use(entry, { operation, mode, protocol, agents, calls, at })
  for (const { samples, ...kind } of requests) inventory.look(caller, operation, kind, samples)
}

function codesOf({ totals }: Comparison): readonly string[] {
  return totals.flatMap(({ code, count }) => (code === undefined ? [] : Array<string>(count).fill(code)))
}

/** What was read of record files. */
export interface ReadCount {
  /** Different entries. */
  entries: number
  /** Lines with an entry that another line had already: the files overlap. */
  repeated: number
  /** Lines that are no entry: torn by a crash or a full disk, or written by another program. */
  skipped: number
  /** Evidence of other tables, or of another v2 build. It proves nothing of these. */
  others: number
  /** Files with more lines that are no entry than entries. Nobody knows what they held. */
  unreadable: string[]
}

export const nothingRead = (): ReadCount => ({ entries: 0, repeated: 0, skipped: 0, others: 0, unreadable: [] })

/** Says how much evidence was left out. */
export function othersText({ others }: Pick<ReadCount, 'others'>): string {
  return `${many(others, 'record')} of other tables or another v2 build left out`
}

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
 *
 * Evidence of another epoch than the given one is left out, or of another than that of the newest entry. Records of older versions tell none.
 */
export async function* mergedEntries(
  paths: readonly string[],
  count: ReadCount,
  { bytes, epoch }: { readonly bytes?: number | undefined; readonly epoch?: string | undefined } = {},
): AsyncGenerator<Entry> {
  const files: RecordBlocks[] = []
  try {
    for (const path of paths) files.push(await openBlocks(path, bytes))
    for (const file of files) note(file, count)
    const isNew = createIsNew()
    const now = epoch ?? newestOf(files.flatMap(({ newest }) => newest ?? []))?.epoch
    for await (const dated of inOrder(files)) {
      const { entry } = dated
      const counts = !isNew(dated) ? 'repeated' : IS_EVIDENCE.has(entry.kind) && (entry.epoch ?? now) !== now ? 'others' : 'entries'
      count[counts] += 1
      if (counts === 'entries') yield entry
    }
  } finally {
    for (const file of files) await file.close()
  }
}

const IS_EVIDENCE: ReadonlySet<Entry['kind']> = new Set<Entry['kind']>(['comparison', 'rehearsal', 'tally'])

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
const RANKS: readonly Entry['kind'][] = ['note', 'rollout', 'traffic', 'tally', 'would-send', 'rehearsal', 'comparison']

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

/** Where what is recorded is kept. */
export interface RecordsSettings {
  readonly memory: number
  readonly file?: Omit<RecordFileSettings, 'waiting'> | undefined
  /** Writes the lines in place of the file, if another process has it. */
  readonly writer?: RecordFile | undefined
  /** Hash of what the evidence is about (`epochHash`). */
  readonly epoch?: string | undefined
}

/** Opens what lines are written to; undefined if they are kept in memory only. */
export function openRecords({ file, writer }: RecordsSettings): RecordFile | undefined {
  return writer ?? (file && createRecordFile({ ...file, waiting: RECORD_FILE.waiting }))
}

/** Yields what earlier processes recorded, in the order of its times. Rejects with a sentence if the file cannot be written. */
export async function* earlierEntries({ file, epoch }: RecordsSettings, count: ReadCount): AsyncGenerator<Entry> {
  if (file) await checkRecordFile(file.path)
  yield* mergedEntries(recordFilesOf(file), count, { epoch })
}

export interface ComparisonQuery {
  /** An operation id; all operations without it. */
  readonly operation?: string | undefined
  readonly limit: number
}

/** Maximum characters of one line. `comparisonOf` stays far below it. */
const LONGEST_LINE = 256 * 1024

export type Recorder = ReturnType<typeof createRecorder>

/**
 * Keeps the results of comparing. Entries arrive redacted (`comparisonOf`). `memory` is the maximum of comparisons with differences that are
 * kept in memory. `file` takes every entry as one line of JSON, with the epoch; without it, entries are kept in memory only.
 */
export function createRecorder({ memory, file, epoch }: Pick<RecordsSettings, 'memory' | 'epoch'> & { readonly file?: RecordFile }) {
  const ring = createRing<Comparison>(memory)
  let refused = 0
  return {
    /** Never throws and never waits. */
    record(entry: Entry): void {
      if (entry.kind === 'comparison' && entry.outcome !== 'match') ring.add(entry)
      if (!file) return
      const line = lineOf(epoch === undefined ? entry : { ...entry, epoch })
      if (line === undefined) refused += 1
      else file.add(line)
    },
    /** Returns the last comparisons with a difference, a failure or an open question, newest first. */
    comparisons: ({ operation, limit }: ComparisonQuery) =>
      ring.last(limit, (one) => operation === undefined || one.operation === operation),
    /** Entries that the file lost. */
    dropped: () => refused + (file?.dropped() ?? 0),
    problem: () => file?.problem(),
    /** Resolves when the file holds every entry. */
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
