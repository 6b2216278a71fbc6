import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileWithin } from '../../files.ts'
import { createShelves, type Shelves } from './memory.ts'

/** Bytes of a store: half of the longest text that V8 has. */
export const MOST_SAVED = 2 ** 28

/** A file of one process. After a crash it holds what was written last, or what was written before that, and nothing in between. */
export async function openAtomicFile(path: string) {
  let known = await stampOf(path)
  return {
    /** Undefined if there is no file yet. */
    text: known === undefined ? undefined : (await fileWithin(path, MOST_SAVED)).toString(),
    /** Resolves when the disk has it. Rejects if another process has written the file meanwhile. */
    async write(text: string) {
      const aside = `${path}.new`
      await written(aside, text)
      if ((await stampOf(path)) !== known) throw new Error('another process writes this file')
      await rename(aside, path)
      known = await stampOf(path)
      await synced(dirname(path))
    },
  }
}

/** Makes the file anew. What stands there may be a link, or be open to others. */
async function written(path: string, text: string): Promise<void> {
  await rm(path, { force: true })
  const file = await open(path, 'wx', 0o600)
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

/** The first member of such a file, so that no other file is taken for one. */
const FORMAT = 'crosswalk store 1'

/** Not heartbeats, leases and numbers of batches: they belong to a process that has ended. */
const SAVED = ['sums', 'texts', 'logs', 'documents', 'claims', 'members'] as const

/** Maps and sets have one member in JSON, which nothing else on a shelf has. */
const MAP = '$map'
const SET = '$set'

export function encodeShelves(shelves: Shelves): string {
  const saved = SAVED.map((name) => [name, shelves[name].entries()] as const)
  return JSON.stringify({ format: FORMAT, ...Object.fromEntries(saved) }, (_, value: unknown) => {
    if (value instanceof Map) return { [MAP]: [...value] }
    if (value instanceof Set) return { [SET]: [...value] }
    return value
  })
}

/** Returns undefined if the text is not of such a file, or is cut off. */
export function decodeShelves(text: string, now: () => number): Shelves | undefined {
  const read = parse(text)
  if (read?.format !== FORMAT || !SAVED.every((name) => Array.isArray(read[name]))) return undefined
  const shelves = createShelves(now)
  for (const name of SAVED) {
    // JSON has no infinity: a document is kept until it is replaced.
    for (const [key, thing, untilMs] of read[name] as Entry[]) shelves[name].set(key, thing, untilMs ?? Number.POSITIVE_INFINITY)
  }
  return shelves
}

type Entry = readonly [key: string, thing: never, untilMs: number | null]

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text, (_, value) => {
      if (Array.isArray(value?.[MAP])) return new Map(value[MAP])
      if (Array.isArray(value?.[SET])) return new Set(value[SET])
      return value
    })
  } catch {
    return undefined
  }
}
