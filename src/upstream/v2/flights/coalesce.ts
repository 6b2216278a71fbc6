import type { Signal } from '../../../limits/signal.ts'
import { areAnsweredAlike } from '../headers.ts'
import { Flight, type FlightKey, type Flights } from './flight.ts'
import type { Landing } from './landing.ts'
import { Passenger, type Start } from './passenger.ts'

/** Joins identical work in flight. */
export interface Coalescer<T> {
  /** Returns the number of the current turn of the event loop. */
  readonly turn: () => number
  /** Starts the work, or joins a flight with the same key that began in turn `since` or later. A flight without passengers is cancelled. */
  join(key: FlightKey, since: number, signal: Signal, start: Start<T>, landing: Landing<T>): void
}

/**
 * A request joins a flight only if the flight began after the request had arrived.
 * Then its caller cannot know of a write that the flight missed, even through another process.
 * Turns of the event loop prove that order without a guess: all requests of one turn had arrived before the first of them was examined.
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

/** The characters at the end of both texts that select the bucket. Keys differ there: in a uid or a window of a list. */
const HASHED = 5

/**
 * Flights by key. Every call adds and removes one. A `Map` that changes so often rebuilds its table repeatedly.
 * The old table is collected late and retains what it held. These buckets stay the same.
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
