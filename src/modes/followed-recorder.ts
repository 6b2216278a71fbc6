import { isDifference } from '../diff/evidence/observation.ts'
import type { Entry } from '../diff/records/record.ts'
import type { Recorder } from '../diff/records/recorder.ts'

export type EntryListener = (entry: Entry) => void

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
