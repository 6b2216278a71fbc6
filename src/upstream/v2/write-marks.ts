import { LRUCache } from 'lru-cache'

/** Tells what a caller read before a write of its own from what it read after: what is shared or kept has another name then. */
export interface WriteMarks {
  /** The name of a caller until its next write. */
  nameOf(caller: string): string
  /** A write begins; the function returned says that it is over, and whether it may have written anything. */
  begin(caller: string): (mayHaveWritten: boolean) => void
}

interface Writing {
  number: number
  active: number
}

/** Callers whose last write is remembered, beside those that write just now. */
const WRITERS = 10_000

export function createWriteMarks(limit: number = WRITERS): WriteMarks {
  let writes = 0
  /** Of those that are not remembered, the number of the last write; whoever is not known may be one of them. */
  let forgotten = 0
  const written = new LRUCache<string, number>({
    max: limit,
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
