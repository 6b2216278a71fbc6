import { open, readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A file of one process. After a crash it holds what was written last, or what was written before that, and nothing in between. */
export interface AtomicFile {
  /** Undefined if there is no file yet. */
  readonly text: string | undefined
  /** Resolves when the disk has it. Rejects if another process has written the file meanwhile. */
  write(text: string): Promise<void>
}

export async function openAtomicFile(path: string): Promise<AtomicFile> {
  let known = await stampOf(path)
  return {
    text: known === undefined ? undefined : await readFile(path, 'utf8'),
    async write(text) {
      const aside = `${path}.new`
      await written(aside, text)
      if ((await stampOf(path)) !== known) throw new Error('another process writes this file')
      await rename(aside, path)
      known = await stampOf(path)
      await synced(dirname(path))
    },
  }
}

async function written(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A new name in a directory lasts when the directory is on the disk. */
async function synced(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Tells one version of a file from another. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { ino, mtimeNs, size } = await stat(path, { bigint: true })
    return `${ino} ${mtimeNs} ${size}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
