import type { IncomingHttpHeaders } from 'node:http'
import { fromTransport } from '../errors/from-v2.ts'
import type { Landing, Underway } from './exchange.ts'
import { areAnsweredAlike } from './headers.ts'
import type { Signal } from './signal.ts'

/** Begins work; whoever waits for it is told what became of it. */
export type Start<T> = (landing: Landing<T>) => Underway

/**
 * What makes work identical. In parts, because to put them together would take longer than to compare them. `headers` are the client's: v2
 * is sent some of them and may answer by them, so that whoever sends others does not get an answer that was given to these.
 */
export interface FlightKey {
  readonly who: string
  readonly what: string
  readonly headers: IncomingHttpHeaders
}

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

/** The result of work that is given up, for the signal's reason, as soon as the signal fires. It is not begun when that has fired already. */
export function waitFor<T>(signal: Signal, start: Start<T>): Promise<T> {
  return new Promise((landed, failed) => new Passenger({ landed, failed }, signal).wait(start))
}

/** Waits until the work has landed or the signal fires. A class, as the next one: there is one of each for every call. */
class Passenger<T> implements Landing<T> {
  readonly #landing: Landing<T>
  readonly #signal: Signal
  #work: Underway | undefined

  constructor(landing: Landing<T>, signal: Signal) {
    this.#landing = landing
    this.#signal = signal
  }

  wait(start: Start<T>): void {
    if (this.#signal.aborted) this.#landing.failed(fromTransport(this.#signal.reason))
    else {
      this.#signal.addEventListener('abort', this)
      this.#work = start(this)
    }
  }

  handleEvent(): void {
    this.#work?.cancel(this.#signal.reason as Error)
  }

  landed(answer: T): void {
    this.#signal.removeEventListener('abort', this)
    this.#landing.landed(answer)
  }

  failed(error: Error): void {
    this.#signal.removeEventListener('abort', this)
    this.#landing.failed(error)
  }
}

/** Of a flight that has landed; nobody boards it any more. */
const NOBODY: never[] = []

/** Work and all who wait for it. */
class Flight<T> implements Landing<T> {
  readonly key: FlightKey
  readonly turn: number
  passengers: Landing<T>[]
  readonly #flights: Flights<T>
  #work: Underway | undefined

  constructor(key: FlightKey, turn: number, flights: Flights<T>, first: Landing<T>) {
    this.key = key
    this.turn = turn
    this.passengers = [first]
    this.#flights = flights
  }

  takeOff(start: Start<T>): this {
    this.#flights.add(this)
    const work = start(this)
    if (this.passengers.length > 0) this.#work = work
    return this
  }

  landed(answer: T): void {
    for (const passenger of this.#land()) passenger.landed(answer)
  }

  failed(error: Error): void {
    for (const passenger of this.#land()) passenger.failed(error)
  }

  /** Lets one go, for this reason; the last one takes the flight down. */
  leave(passenger: Landing<T>, reason: Error): void {
    const at = this.passengers.indexOf(passenger)
    if (at < 0) return
    this.passengers.splice(at, 1)
    passenger.failed(reason)
    if (this.passengers.length === 0) {
      this.#flights.remove(this)
      this.#work?.cancel(reason)
    }
  }

  #land(): readonly Landing<T>[] {
    this.#flights.remove(this)
    this.#work = undefined
    const landing = this.passengers
    this.passengers = NOBODY
    return landing
  }
}

interface Flights<T> {
  find(key: FlightKey): Flight<T> | undefined
  add(flight: Flight<T>): void
  remove(flight: Flight<T>): void
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
