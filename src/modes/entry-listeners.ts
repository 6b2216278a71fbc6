import { isDifference } from '../diff/evidence/observation.ts'
import type { Tallies } from '../diff/evidence/tallies.ts'
import type { Entry } from '../diff/records/record.ts'
import type { Recorder } from '../diff/records/recorder.ts'
import type { Queue } from './observe/queue.ts'

export type EntryListener = (entry: Entry) => void

/** Passes entries on. */
export interface EntryListeners {
  follow(listener: EntryListener): void
  readonly tell: EntryListener
}

export function createListeners(): EntryListeners {
  const listeners: EntryListener[] = []
  return {
    follow: (listener) => void listeners.push(listener),
    tell(entry) {
      for (const listener of listeners) listener(entry)
    },
  }
}

/**
 * Returns the same recorder, which also passes its entries on. The calls so far come before a mismatch, so that its client is known when it
 * is counted.
 */
export function followed(recorder: Recorder, tell: EntryListener, flush: () => void): Recorder {
  return {
    ...recorder,
    record(entry) {
      if (entry.kind === 'comparison' && isDifference(entry.outcome)) flush()
      recorder.record(entry)
      tell(entry)
    },
  }
}

/** What is being counted here and now. Nothing of it is read back or comes from elsewhere. */
export interface Counting {
  /** Passes every entry on that is recorded from now on. */
  followOwn(listener: EntryListener): void
  /** Passes on what is counted without a record of its own. */
  readonly followTallies: Tallies['follow']
  readonly oldestMs: Queue['oldestMs']
}
