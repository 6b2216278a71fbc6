import { createChain, type Link } from './chain.ts'

/** Watches many things with the same time limit. */
export interface Deadlines {
  /** Milliseconds. */
  readonly ms: number
  /** Calls the watched when its time is over, unless it is forgotten earlier. */
  watch(watched: Deadline): void
  forget(watched: Deadline): void
}

/** Something that may be late. */
export interface Deadline extends Link<Deadline> {
  late(): void
  due?: number
}

/**
 * One timer for all: whatever began first is due first. Every request has a deadline and hardly one reaches it.
 * A timer for each would be created and discarded. `ms` is the time limit in milliseconds.
 */
export function createDeadlines(ms: number): Deadlines {
  const all = createChain<Deadline>()
  let waits = false

  const wait = () => {
    const oldest = all.oldest()
    waits = oldest !== undefined
    if (oldest) setTimeout(look, Math.max(1, dueOf(oldest) - performance.now())).unref()
  }
  const look = () => {
    const now = performance.now()
    for (let oldest = all.oldest(); oldest && dueOf(oldest) <= now; oldest = all.oldest()) {
      all.remove(oldest)
      oldest.late()
    }
    wait()
  }
  return {
    ms,
    forget: all.remove,
    watch(watched) {
      watched.due = performance.now() + ms
      all.add(watched)
      if (!waits) wait()
    },
  }
}

function dueOf({ due = 0 }: Deadline): number {
  return due
}
