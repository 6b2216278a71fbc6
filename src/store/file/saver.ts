/** Saves what has changed: at once if it must not get lost, else soon. */
export interface Saver {
  /** Something has changed. Resolves at once unless it is urgent; rejects if saving fails, or has failed since the last success. */
  changed(isUrgent: boolean): Promise<void>
  /** Saves what is not saved yet. */
  close(): Promise<void>
}

/** The shortest pause between two saves that are not urgent, in milliseconds. */
const PAUSE_MS = 1000

/** A pause is this many times as long as a save takes, so that a large store costs at most 2 % of the time. */
const PAUSE_PER_SAVE = 50

export function createSaver(save: () => Promise<void>): Saver {
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
    async changed(isUrgent) {
      isChanged = true
      if (isUrgent || hasFailed) return saveNow()
      later(PAUSE_MS)
    },
    async close() {
      await saveNow()
      clearTimeout(timer)
    },
  }
}
