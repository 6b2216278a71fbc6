import { LRUCache } from 'lru-cache'
import { entries } from '../../limits/entries.ts'

/** Separates what a caller read before its own write from what it read afterwards: shared and cached reads change their name. */
export interface WriteMarks {
  /** The caller's name until its next write. */
  nameOf(caller: string): string
  /** Marks the beginning of a write. The returned function marks its end, and says whether it may have written. */
  begin(caller: string): (mayHaveWritten: boolean) => void
}

interface Writing {
  number: number
  active: number
}

/** The number of callers whose last write is remembered, beside those with a write in flight. */
const WRITERS = 10_000

export function createWriteMarks(limit: number = WRITERS): WriteMarks {
  let writes = 0
  /** The number of the last write among forgotten callers. An unknown caller may be one of them. */
  let forgotten = 0
  const written = new LRUCache<string, number>({
    ...entries(limit),
    dispose(number, _, reason) {
      if (reason === 'evict') forgotten = Math.max(forgotten, number)
    },
  })
  const writing = new Map<string, Writing>()
  return {
    nameOf(caller) {
      const number = writing.get(caller)?.number ?? written.get(caller) ?? forgotten
      return number === 0 ? caller : `${caller} ${number}`
    },
    begin(caller) {
      const own = writing.get(caller) ?? { number: 0, active: 0 }
      writing.set(caller, own)
      writes += 1
      own.number = writes
      own.active += 1
      return (mayHaveWritten) => {
        own.active -= 1
        if (own.active === 0) writing.delete(caller)
        if (!mayHaveWritten) return
        writes += 1
        own.number = writes
        written.set(caller, writes)
      }
    },
  }
}
