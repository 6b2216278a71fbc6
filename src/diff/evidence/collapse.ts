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
  /** No other of its pair that says something about v2 was counted in the last ten minutes. Any other that does is a repeat. */
  readonly isFirst: boolean
  /** This outcome of the pair was not counted in the last ten minutes. */
  readonly isNewOutcome: boolean
}

/** Places a comparison at this time (milliseconds), and remembers it. */
export type Collapse = (observation: Observation, now: number) => Place

/** True for a comparison that is worth a record. */
export function isCounted({ isFirst, isNewOutcome }: Place): boolean {
  return isFirst || isNewOutcome
}

/** True for a comparison that says something about v2, but is no observation. */
export function isRepeat({ outcome }: Pick<Observation, 'outcome'>, { isFirst }: Place): boolean {
  return !isFirst && WEIGHTS[outcome] !== 'nothing'
}

/** When a pair was last counted. */
interface Pair {
  observedAt: number | undefined
  readonly outcomes: Partial<Record<Observation['outcome'], number>>
  at: number
}

/**
 * Counts thousands of identical polls as one observation.
 * When the memory is full, clean comparisons of new pairs are no observations. The evidence may then grow too slowly, but never too fast.
 * Replicas of a fleet claim observations and outcomes of pairs by the same rule (`evidenceChanges`), so that a fleet counts as one process.
 */
export function createCollapse({ windowMs, entries }: CollapseSettings = COLLAPSE): Collapse {
  /** Oldest first: a pair moves to the end when something of it is counted. */
  const pairs = new Map<string, Pair>()
  // A clock may step back. What is older than the window is no repetition either.
  const isOver = (at: number | undefined, now: number) => at === undefined || Math.abs(now - at) >= windowMs
  const forget = (now: number) => {
    for (const [key, { at }] of pairs) {
      if (!isOver(at, now)) return
      pairs.delete(key)
    }
  }
  return ({ operation, caller, shape, outcome }, now) => {
    const weight = WEIGHTS[outcome]
    if (windowMs <= 0) return { isFirst: weight !== 'nothing', isNewOutcome: true }
    const key = `${operation}\n${caller}\n${shape}`
    const known = pairs.get(key)
    if (!known && pairs.size >= entries) forget(now)
    if (!known && pairs.size >= entries) return { isFirst: weight === 'bad', isNewOutcome: weight !== 'clean' }
    const pair: Pair = known ?? { observedAt: undefined, outcomes: {}, at: now }
    const place = { isFirst: weight !== 'nothing' && isOver(pair.observedAt, now), isNewOutcome: isOver(pair.outcomes[outcome], now) }
    if (!isCounted(place)) return place
    if (place.isFirst) pair.observedAt = now
    if (place.isNewOutcome) pair.outcomes[outcome] = now
    pair.at = now
    pairs.delete(key)
    pairs.set(key, pair)
    return place
  }
}
