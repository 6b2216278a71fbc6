import { type Observation, WEIGHTS } from './observation.ts'

export interface CollapseSettings {
  /** Milliseconds in which the comparisons of one caller and shape are one observation; 0 makes every one an observation. */
  readonly windowMs: number
  /** Maximum pairs of caller and shape that are remembered. */
  readonly entries: number
}

export const COLLAPSE: CollapseSettings = { windowMs: 600_000, entries: 100_000 }

/** Where a comparison counts (evidence §1). */
export interface Place {
  /** The first one of its pair in the window that says something about v2. Any other that does is a repeat. */
  readonly isFirst: boolean
  /** The window has not seen this outcome of the pair yet, so that it is worth a record. */
  readonly isNew: boolean
}

/** Places a comparison at this time (milliseconds), and remembers it. */
export type Collapse = (observation: Observation, now: number) => Place

/** True for a comparison that says something about v2, but is no observation. */
export function isRepeat({ outcome }: Pick<Observation, 'outcome'>, { isFirst }: Place): boolean {
  return !isFirst && WEIGHTS[outcome] !== 'nothing'
}

interface Pair {
  /** When its window began. */
  readonly at: number
  readonly outcomes: Observation['outcome'][]
  isObserved: boolean
}

/**
 * Counts thousands of identical polls as one observation.
 * When the memory is full, clean comparisons of new pairs are no observations. The evidence may then grow too slowly, but never too fast.
 */
export function createCollapse({ windowMs, entries }: CollapseSettings = COLLAPSE): Collapse {
  /** Oldest first: a pair moves to the end when its next window begins. */
  const pairs = new Map<string, Pair>()
  const forget = (now: number) => {
    for (const [key, { at }] of pairs) {
      if (now - at < windowMs) return
      pairs.delete(key)
    }
  }
  const pairOf = (key: string, now: number): Pair | undefined => {
    const known = pairs.get(key)
    // A clock may step back. What is older than the window is no repetition either.
    if (known && Math.abs(now - known.at) < windowMs) return known
    pairs.delete(key)
    if (pairs.size >= entries) forget(now)
    if (pairs.size >= entries) return undefined
    const pair: Pair = { at: now, outcomes: [], isObserved: false }
    pairs.set(key, pair)
    return pair
  }
  return ({ operation, caller, shape, outcome }, now) => {
    const weight = WEIGHTS[outcome]
    if (windowMs <= 0) return { isFirst: weight !== 'nothing', isNew: true }
    const pair = pairOf(`${operation}\n${caller}\n${shape}`, now)
    if (!pair) return { isFirst: weight === 'bad', isNew: weight !== 'clean' }
    const place = { isFirst: weight !== 'nothing' && !pair.isObserved, isNew: !pair.outcomes.includes(outcome) }
    if (place.isNew) pair.outcomes.push(outcome)
    if (place.isFirst) pair.isObserved = true
    return place
  }
}
