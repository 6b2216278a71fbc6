import { type Observation, WEIGHTS } from './observation.ts'

export interface CollapseSettings {
  /** Milliseconds in which identical observations are one; 0 counts every one. */
  readonly windowMs: number
  /** Observations remembered at a time. */
  readonly entries: number
}

export const COLLAPSE: CollapseSettings = { windowMs: 600_000, entries: 100_000 }

/** Tells whether an observation at this time (milliseconds) is a new one, and remembers it. */
export type IsNew = (observation: Observation, now: number) => boolean

/**
 * Thousands of identical polls are one observation: the same caller, shape and outcome again within the window are not new. When more are
 * alive than can be remembered, clean ones are not counted, so that the evidence may fall short but never grows too fast.
 */
export function createCollapse({ windowMs, entries }: CollapseSettings = COLLAPSE): IsNew {
  /** Oldest first, because an entry is put behind the others whenever it counts anew. */
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
    if (at !== undefined && now - at < windowMs) return false
    counted.delete(key)
    if (counted.size >= entries) forget(now)
    if (counted.size >= entries) return WEIGHTS[outcome] !== 'clean'
    counted.set(key, now)
    return true
  }
}
