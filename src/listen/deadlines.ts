/** Watches over many things that may each take the same time. */
export interface Deadlines {
  /** Tells it when the time is over, unless it is forgotten before. */
  watch(watched: Watched): void
  forget(watched: Watched): void
}

/** Something that may be late; where it stands among the others is noted on it. */
export interface Watched {
  late(): void
  due?: number
  older?: Watched | undefined
  newer?: Watched | undefined
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
    if (oldest) setTimeout(look, Math.max(1, dueOf(oldest) - performance.now())).unref()
  }
  const look = () => {
    const now = performance.now()
    while (oldest && dueOf(oldest) <= now) {
      const watched = oldest
      forget(watched)
      watched.late()
    }
    wait()
  }
  return {
    forget,
    watch(watched) {
      watched.due = performance.now() + ms
      watched.older = newest
      if (newest) newest.newer = watched
      else oldest = watched
      newest = watched
      if (!waits) wait()
    },
  }
}

function dueOf({ due = 0 }: Watched): number {
  return due
}
