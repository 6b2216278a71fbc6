import type { Signal } from '../../signal.ts'
import { areAnsweredAlike } from '../headers.ts'
import { Flight, type FlightKey, type Flights } from './flight.ts'
import type { Landing } from './landing.ts'
import { Passenger, type Start } from './passenger.ts'

/** Joins identical work that is under way. */
export interface Coalescer<T> {
  /** The number of this turn of the event loop. */
  readonly turn: () => number
  /** Starts the work, or waits for the flight with the same key that began in turn `since` or later. It is cancelled when nobody waits any more. */
  join(key: FlightKey, since: number, signal: Signal, start: Start<T>, landing: Landing<T>): void
}

/**
 * Whoever joins a flight that began after its own request had come in cannot have been told of a write that the flight missed, not even of
 * one that went through another process. Time in turns says so without a guess: requests that are looked at in one turn of the event loop
 * had all come in before the first of them was.
 */
export function createCoalescer<T>(turn: () => number = turnOfLoop): Coalescer<T> {
  const flights = createFlights<T>()
  const board = (key: FlightKey, since: number, passenger: Landing<T>, start: Start<T>): Flight<T> => {
    const known = flights.find(key)
    if (known && known.turn >= since) {
      known.passengers.push(passenger)
      return known
    }
    if (known) flights.remove(known)
    return new Flight(key, turn(), flights, passenger).takeOff(start)
  }
  return {
    turn,
    join(key, since, signal, start, landing) {
      const passenger = new Passenger(landing, signal)
      passenger.wait((waiting) => {
        const flight = board(key, since, waiting, start)
        return { cancel: (reason) => flight.leave(waiting, reason) }
      })
    },
  }
}

function turnOfLoop(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount
}

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
function createFlights<T>(): Flights<T> {
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
