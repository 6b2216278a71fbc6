/** Tells whether a caller wrote while the proxy read for it. One side may then have been read before the write and the other after it. */
export interface OwnWrites {
  /** Notes that a write of this caller begins. Call the returned function when it has ended. */
  begin(caller: string): () => void
  /** Returns a function that tells whether any write of this caller has been under way since this call. */
  watch(caller: string): () => boolean
  /** Notes that other replicas made more writes than are known: any caller may have written. */
  heardMany(): void
}

interface Writes {
  /** Number of this caller's last write among all writes. */
  last: number
  active: number
}

/** Maximum callers without a write under way; those that wrote longest ago are dropped first. Callers that only read are not stored. */
const CALLERS = 10_000

export function createOwnWrites(limit: number = CALLERS): OwnWrites {
  /** The last writer is last. */
  const writers = new Map<string, Writes>()
  let writes = 0
  /** The highest last-write number among the dropped callers. */
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
    heardMany() {
      writes += 1
      forgotten = writes
      for (const [name, { active }] of writers) if (active === 0) writers.delete(name)
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
