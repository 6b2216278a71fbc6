import { areAnsweredAlike } from '../headers.ts'
import type { Flight, FlightKey, Flights } from './flight.ts'

function isSame(one: FlightKey, other: FlightKey): boolean {
  return one.what === other.what && one.who === other.who && areAnsweredAlike(one.headers, other.headers)
}

const BUCKETS = 256

/** Characters at the end of both texts that choose the bucket: there they differ, in a uid or a window of a list. */
const HASHED = 5

/**
 * Flights by key. Every call takes off and lands, and a `Map` that changes so often is a burden: each time its table is made anew, the old
 * one is collected late, and until then everything lives on that it held. These buckets stay the same.
 */
export function createFlights<T>(): Flights<T> {
  const buckets = Array.from({ length: BUCKETS }, (): Flight<T>[] => [])
  const bucketOf = ({ who, what }: FlightKey) => buckets[hash(who, hash(what, 0)) % BUCKETS] ?? []
  return {
    find: (key) => bucketOf(key).find((flight) => isSame(flight.key, key)),
    add: (flight) => void bucketOf(flight.key).push(flight),
    remove(flight) {
      const bucket = bucketOf(flight.key)
      const at = bucket.indexOf(flight)
      const last = at >= 0 ? bucket.pop() : undefined
      if (last && last !== flight) bucket[at] = last
    },
  }
}

function hash(text: string, seed: number): number {
  let sum = seed
  for (let at = Math.max(0, text.length - HASHED); at < text.length; at += 1) sum = (31 * sum + text.charCodeAt(at)) | 0
  return sum >>> 0
}
