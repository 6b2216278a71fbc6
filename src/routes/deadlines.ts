/** Watches over many things that may each take the same time. */
export interface Deadlines {
  /** Calls `late` when the time is over, unless what is returned is forgotten before. */
  watch(late: () => void): Watched
  forget(watched: Watched): void
}

export interface Watched {
  readonly late: () => void
  readonly due: number
  older: Watched | undefined
  newer: Watched | undefined
}

/**
 * One timer for all, since whatever began first is due first. Every request has a deadline and hardly one meets it: a timer of its own
 * would be made and thrown away for each. `ms` is that time in milliseconds.
 */
export function createDeadlines(ms: number): Deadlines {
  let oldest: Watched | undefined
  let newest: Watched | undefined
  let waits = false

  const forget = (watched: Watched) => {
    const { older, newer } = watched
    if (older) older.newer = newer
    else if (oldest === watched) oldest = newer
    if (newer) newer.older = older
    else if (newest === watched) newest = older
    watched.older = undefined
    watched.newer = undefined
  }
  const wait = () => {
    waits = oldest !== undefined
    if (oldest) setTimeout(look, Math.max(1, oldest.due - performance.now())).unref()
  }
  const look = () => {
    const now = performance.now()
    while (oldest && oldest.due <= now) {
      const { late } = oldest
      forget(oldest)
      late()
    }
    wait()
  }
  return {
    forget,
    watch(late) {
      const watched: Watched = { late, due: performance.now() + ms, older: newest, newer: undefined }
      if (newest) newest.newer = watched
      else oldest = watched
      newest = watched
      if (!waits) wait()
      return watched
    },
  }
}
