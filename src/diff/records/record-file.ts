import { existsSync } from 'node:fs'
import { appendFile, open, rename, stat } from 'node:fs/promises'
import { systemReason } from '../../errors.ts'

export interface RecordFileSettings {
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
export function recordFilesOf(file: Pick<RecordFileSettings, 'path' | 'files'> | undefined): readonly string[] {
  if (!file) return []
  return [file.path, ...Array.from({ length: file.files }, (_, nth) => `${file.path}.${nth + 1}`)].filter((path) => existsSync(path))
}

/** Rejects with a sentence if the file cannot be written. A misspelt folder must not cost a week of evidence. */
export async function checkRecordFile(path: string): Promise<void> {
  try {
    await (await open(path, 'a', OWNER_ALONE)).close()
  } catch (error) {
    throw new Error(`records.file cannot be written: ${systemReason(error)}`)
  }
}

const OWNER_ALONE = 0o600

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
  return async (lines) => {
    try {
      // Another process that writes the file, as in a restart without a gap, may have renamed it already.
      if (size === undefined || size >= bytes) size = await sizeOf(path)
      if (size >= bytes) {
        await rotate(path, files)
        size = 0
      }
      const text = `${torn && size > 0 ? '\n' : ''}${lines.join('\n')}\n`
      torn = true
      await appendFile(path, text, { mode: OWNER_ALONE })
      torn = false
      size += Buffer.byteLength(text)
      return undefined
    } catch (error) {
      size = undefined
      return systemReason(error)
    }
  }
}

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
