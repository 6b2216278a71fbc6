/** Things by name, each of which is forgotten at its time. */
export interface Shelf<T> {
  get(name: string): T | undefined
  /** Puts a thing there until `untilMs`. */
  set(name: string, thing: T, untilMs: number): void
  /** Lets a thing that is there stay until `untilMs`. */
  keep(name: string, untilMs: number): void
  /** Milliseconds until it is forgotten; 0 if it is not there. */
  left(name: string): number
  delete(name: string): void
  /** Number of things that take memory: some of them may be forgotten. */
  size(): number
  /** What is not forgotten, with the time until which it stays. */
  entries(): (readonly [name: string, thing: T, untilMs: number])[]
}

interface Kept<T> {
  thing: T
  untilMs: number
}

/** Sweeping takes place when a shelf has grown to this many things, and then whenever it has doubled: its cost is a constant for each thing. */
const SWEPT = 1000

export function createShelf<T>(now: () => number): Shelf<T> {
  const things = new Map<string, Kept<T>>()
  let next = SWEPT
  const live = (name: string): Kept<T> | undefined => {
    const kept = things.get(name)
    if (!kept || kept.untilMs > now()) return kept
    things.delete(name)
    return undefined
  }
  const sweep = () => {
    for (const name of things.keys()) live(name)
    next = Math.max(SWEPT, 2 * things.size)
  }
  return {
    get: (name) => live(name)?.thing,
    set(name, thing, untilMs) {
      things.set(name, { thing, untilMs })
      if (things.size >= next) sweep()
    },
    keep(name, untilMs) {
      const kept = live(name)
      if (kept) kept.untilMs = untilMs
    },
    left(name) {
      const kept = live(name)
      return kept ? kept.untilMs - now() : 0
    },
    delete: (name) => void things.delete(name),
    size: () => things.size,
    entries() {
      sweep()
      return [...things].map(([name, { thing, untilMs }]) => [name, thing, untilMs] as const)
    },
  }
}
