import { systemReason } from '../../errors.ts'
import { createMemory, type Memory } from '../memory/memory.ts'
import { createShelves } from '../memory/shelves.ts'
import type { Store } from '../store.ts'
import type { StoreChange } from '../store-change.ts'
import { StoreDown } from '../store-down.ts'
import { openAtomicFile } from './atomic-file.ts'
import { decodeShelves, encodeShelves } from './saved-shelves.ts'
import { createSaver } from './saver.ts'

/**
 * A store in memory that one process keeps in a file. Urgent batches and new documents are answered when the disk has them; the rest is
 * saved within seconds and at the end. Throws an error, whose message is a sentence, if the file is not of a store.
 */
export async function openFile(path: string, now: () => number): Promise<Memory> {
  const file = await openAtomicFile(path).catch((error: Error) => {
    throw new Error(`store.url: the file ${path} cannot be read: ${systemReason(error)}`, { cause: error })
  })
  const shelves = file.text === undefined ? createShelves(now) : decodeShelves(file.text, now)
  if (!shelves) throw new Error(`store.url: ${path} is not a whole store of Crosswalk. Move it away to begin with an empty one`)
  const memory = createMemory(now, shelves)
  const saver = createSaver(() => file.write(encodeShelves(shelves)))
  const orDown = (saved: Promise<void>) =>
    saved.catch((error: Error) => {
      throw new StoreDown(`the store at file:${path} cannot be written: ${systemReason(error)}`)
    })
  const keep = (store: Store): Store => ({
    ...store,
    async exchange(batch) {
      const found = await store.exchange(batch)
      if (batch.changes.some(isSaved)) await orDown(saver.changed(batch.isUrgent))
      return found
    },
    async replace(name, version, text) {
      const replaced = await store.replace(name, version, text)
      if (replaced.isReplaced) await orDown(saver.changed(true))
      return replaced
    },
    async close() {
      await store.close()
      await orDown(saver.close())
    },
  })
  // Saves it before the first request, so that a path that cannot be written ends the start.
  await saver.changed(true).catch((error: Error) => {
    throw new Error(`store.url: the file ${path} cannot be written: ${systemReason(error)}`, { cause: error })
  })
  return { open: () => keep(memory.open()) }
}

function isSaved({ kind }: StoreChange): boolean {
  return kind !== 'beat' && kind !== 'lease'
}
