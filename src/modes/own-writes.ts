/** Tells whether a caller wrote while something was read for it: the two sides may then have been read before and after. */
export interface OwnWrites {
  /** A write of this caller begins; the function returned says that it is over. */
  begin(caller: string): () => void
  /** The function returned tells whether a write of this caller was under way at any time since now. */
  watch(caller: string): () => boolean
}

interface Writes {
  begun: number
  active: number
}

/** Callers remembered beyond those with a write under way; those known longest are forgotten first. */
const CALLERS = 10_000

export function createOwnWrites(): OwnWrites {
  const callers = new Map<string, Writes>()
  const of = (caller: string) => {
    const known = callers.get(caller)
    if (known) return known
    const fresh = { begun: 0, active: 0 }
    callers.set(caller, fresh)
    if (callers.size > CALLERS) forget(caller)
    return fresh
  }
  const forget = (but: string) => {
    for (const [name, { active }] of callers) {
      if (callers.size <= CALLERS) return
      if (active === 0 && name !== but) callers.delete(name)
    }
  }
  return {
    begin(caller) {
      const writes = of(caller)
      writes.begun += 1
      writes.active += 1
      let over = false
      return () => {
        if (!over) writes.active -= 1
        over = true
      }
    },
    watch(caller) {
      const writes = of(caller)
      const { begun, active } = writes
      return () => active > 0 || writes.begun > begun || callers.get(caller) !== writes
    },
  }
}
