import { appendFile, open, rename, stat } from 'node:fs/promises'

export interface RecordFileSettings {
  readonly path: string
  /** A file that reaches this size is set aside as `<path>.1`, `<path>.2`, …, the highest being the oldest. */
  readonly bytes: number
  /** How many are set aside; the oldest is overwritten. The whole never takes more than `(files + 1) × bytes` and one batch. */
  readonly files: number
  /** Lines that may wait for the disk; further ones are dropped. */
  readonly waiting: number
}

export const RECORD_FILE: Omit<RecordFileSettings, 'path'> = { bytes: 64 * 1024 * 1024, files: 4, waiting: 10_000 }

export interface RecordFile {
  /** Hands one line over, without its line break, and returns at once. Never throws. */
  add(line: string): void
  /** Resolves when everything handed over so far is written or dropped. */
  flush(): Promise<void>
  /** Lines lost because the disk was full, slow, or not there. */
  dropped(): number
  /** Why the last write failed; undefined when it did not. */
  problem(): string | undefined
}

/** Rejects with a sentence when the file cannot be written: a week of evidence must not be lost to a misspelt folder. */
export async function checkRecordFile(path: string): Promise<void> {
  try {
    await (await open(path, 'a', OWNER_ALONE)).close()
  } catch (error) {
    throw new Error(`records.file cannot be written: ${(error as Error).message}`)
  }
}

const OWNER_ALONE = 0o600

/**
 * Appends lines to a file in batches. Whatever goes wrong, traffic does not notice: the lines of a failed batch are counted and forgotten.
 */
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
 * One write for one batch; gives the problem instead of throwing. A failed batch, or one of a process that died, may have been written in
 * part, so the next one begins with a line break: only the torn line is lost.
 */
function createAppend({ path, bytes, files }: RecordFileSettings): (lines: readonly string[]) => Promise<string | undefined> {
  let size: number | undefined
  let torn = true
  return async (lines) => {
    try {
      size ??= await sizeOf(path)
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
      return error instanceof Error ? error.message : String(error)
    }
  }
}

/** `path` becomes `path.1`, `path.1` becomes `path.2`, and so on; with no file to keep, `path.1` is the only one. */
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

/** Bytes that are there already; 0 when there is no file. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return 0
    throw error
  }
}
