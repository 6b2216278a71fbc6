import { type Observation, WEIGHTS } from './observation.ts'

export interface CollapseSettings {
  /** Milliseconds in which identical observations count once; 0 counts every one. */
  readonly windowMs: number
  /** Maximum observations that are remembered. */
  readonly entries: number
}

export const COLLAPSE: CollapseSettings = { windowMs: 600_000, entries: 100_000 }

/** Tells whether an observation at this time (milliseconds) is new, and remembers it. */
export type IsNew = (observation: Observation, now: number) => boolean

/**
 * Counts thousands of identical polls as one observation. The same caller, shape and outcome is not new again within the window.
 * When the memory is full, clean observations are not counted. The evidence may then grow too slowly, but never too fast.
 */
export function createCollapse({ windowMs, entries }: CollapseSettings = COLLAPSE): IsNew {
  /** Oldest first: an entry moves to the end whenever it counts again. */
  const counted = new Map<string, number>()
  const forget = (now: number) => {
    for (const [key, at] of counted) {
      if (now - at < windowMs) return
      counted.delete(key)
    }
  }
  return ({ operation, caller, shape, outcome }, now) => {
    if (windowMs <= 0) return true
    const key = `${operation}\n${caller}\n${shape}\n${outcome}`
    const at = counted.get(key)
    // A clock may step back. What is older than the window is no repetition either.
    if (at !== undefined && Math.abs(now - at) < windowMs) return false
    counted.delete(key)
    if (counted.size >= entries) forget(now)
    if (counted.size >= entries) return WEIGHTS[outcome] !== 'clean'
    counted.set(key, now)
    return true
  }
}
