import type { Received } from '../stage/differ.ts'
import { type Place, placesOf } from './places.ts'

/** The answers that decide whether a client would see a spoiled answer of v2. */
export interface Answers {
  /** Of genuine v1. */
  readonly genuine: Received
  /** Of Crosswalk without v1, over v2 as it is. */
  readonly calm: Received
  /** Of Crosswalk without v1, over the spoiled v2. */
  readonly spoiled: Received
}

/**
 * Returns where a client sees that v2 is spoiled: where the answer differs from genuine v1, except for differences that are there without
 * any spoiling. None means that nobody could see it.
 */
export function visiblePlaces({ genuine, calm, spoiled }: Answers): readonly Place[] {
  const usual = new Set(placesOf(genuine, calm).map(keyOf))
  return placesOf(genuine, spoiled).filter((place) => !usual.has(keyOf(place)))
}

function keyOf({ at, value }: Place): string {
  return `${at} ${value}`
}
