import { z } from 'zod'
import { systemReason } from '../../errors.ts'
import { openAtomicFile } from '../../store/file/atomic-file.ts'
import type { Document } from '../../store/store.ts'
import { readText } from '../read-text.ts'

/** Keeps the last known modes and the open circuits in a file, for a start while the store does not answer. */
export interface ModesCache {
  /** Reads what an earlier process kept; undefined if there is nothing. */
  read(): Promise<KeptModes | undefined>
  /** Keeps what is known now, as soon as what is being written is written. */
  keep(): void
  /** Resolves when everything is written. */
  close(): Promise<void>
}

export interface KeptModes {
  readonly document: Document
  /** Why each open circuit opened, by operation. */
  readonly open: Readonly<Record<string, string>>
}

const keptSchema = z.object({
  document: z.object({ version: z.number().int().positive(), text: z.string() }),
  open: z.record(z.string(), z.string()),
})

/** `warn` is given a sentence if the file cannot be read or written. */
export function createModesCache(path: string, now: () => KeptModes, warn: (text: string) => void): ModesCache {
  const opened = openAtomicFile(path)
  const failed = (error: Error) => warn(`store.cache (${path}) cannot be kept: ${systemReason(error)}.`)
  let isNew = false
  let writing: Promise<void> | undefined
  const write = async () => {
    while (isNew) {
      isNew = false
      await opened.then(({ write }) => write(JSON.stringify(now()))).catch(failed)
    }
    writing = undefined
  }
  return {
    async read() {
      const { text } = await opened.catch((error: Error) => {
        failed(error)
        return { text: undefined }
      })
      const kept = text === undefined ? undefined : readText(keptSchema, text)
      if (text !== undefined && !kept) warn(`store.cache (${path}) is not a file that Crosswalk wrote, so no modes are known from it.`)
      return kept
    },
    keep() {
      isNew = true
      writing ??= write()
    },
    close: async () => await writing,
  }
}
