import { systemReason } from '../../errors.ts'
import { createMemory, createShelves, type Memory } from './memory.ts'
import { decodeShelves, encodeShelves, openAtomicFile } from './saved.ts'
import { type Store, type StoreChange, StoreDown } from './store.ts'

/** The shortest pause between two saves that are not urgent, in milliseconds. */
const PAUSE_MS = 1000

/** A pause is this many times as long as a save takes, so that a large store costs at most 2 % of the time. */
const PAUSE_PER_SAVE = 50

/** Saves what has changed: at once if it must not get lost, else soon. */
function createSaver(save: () => Promise<void>) {
  let isChanged = false
  let hasFailed = false
  let timer: NodeJS.Timeout | undefined
  /** Saves go one after the other: each begins with all that has changed by then. */
  let last: Promise<void> = Promise.resolve()
  const saveNow = (): Promise<void> => {
    const next = last.catch(() => {}).then(saveChanged)
    last = next
    return next
  }
  const saveChanged = async () => {
    if (!isChanged) return
    clearTimeout(timer)
    timer = undefined
    isChanged = false
    const begun = performance.now()
    try {
      await save()
      hasFailed = false
    } catch (error) {
      isChanged = true
      hasFailed = true
      throw error
    } finally {
      if (isChanged) later(PAUSE_PER_SAVE * (performance.now() - begun))
    }
  }
  const later = (ms: number) => {
    // The next call of `changed` tells of a failure.
    timer ??= setTimeout(() => void saveNow().catch(() => {}), Math.max(PAUSE_MS, ms)).unref()
  }
  return {
    /** Something has changed. Resolves at once unless it is urgent; rejects if saving fails, or has failed since the last success. */
    async changed(isUrgent: boolean) {
      isChanged = true
      if (isUrgent || hasFailed) return saveNow()
      later(PAUSE_MS)
    },
    /** Saves what is not saved yet. */
    async close() {
      await saveNow()
      clearTimeout(timer)
    },
  }
}

/**
 * A store in memory that one process keeps in a file. Urgent batches and new documents are answered when the disk has them; the rest is
 * saved within seconds and at the end. Throws an error, whose message is a sentence, if the file is not of a store.
 */
export async function openFile(path: string, now: () => number): Promise<Memory> {
  const file = await openAtomicFile(path).catch((error: Error) => {
    throw new Error(`store.url: the file cannot be read: ${systemReason(error)}`, { cause: error })
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
