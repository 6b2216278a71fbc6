/** Tells whether a caller wrote while something was read for it: the two sides may then have been read before and after. */
export interface OwnWrites {
  /** A write of this caller begins; the function returned says that it is over. */
  begin(caller: string): () => void
  /** The function returned tells whether a write of this caller was under way at any time since now. */
  watch(caller: string): () => boolean
}

interface Writes {
  /** Number of the last one among all writes. */
  last: number
  active: number
}

/** Callers remembered beyond those with a write under way; those that wrote longest ago are forgotten first. Readers take no place. */
const CALLERS = 10_000

export function createOwnWrites(limit: number = CALLERS): OwnWrites {
  /** Last writer last. */
  const writers = new Map<string, Writes>()
  let writes = 0
  /** Of those that were forgotten, the number of the last write. */
  let forgotten = 0
  const forget = () => {
    for (const [name, { last, active }] of writers) {
      if (writers.size <= limit) return
      if (active > 0) continue
      writers.delete(name)
      forgotten = Math.max(forgotten, last)
    }
  }
  return {
    begin(caller) {
      writes += 1
      const own = writers.get(caller) ?? { last: 0, active: 0 }
      own.last = writes
      own.active += 1
      writers.delete(caller)
      writers.set(caller, own)
      if (writers.size > limit) forget()
      let over = false
      return () => {
        if (!over) own.active -= 1
        over = true
      }
    },
    watch(caller) {
      const before = writes
      const wasActive = isActive(writers.get(caller))
      return () => {
        const own = writers.get(caller)
        return wasActive || isActive(own) || (own?.last ?? forgotten) > before
      }
    },
  }
}

function isActive(writes: Writes | undefined): boolean {
  return (writes?.active ?? 0) > 0
}
