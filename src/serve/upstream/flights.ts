import type { IncomingHttpHeaders } from 'node:http'
import { performance } from 'node:perf_hooks'
import { fromTransport } from '../../errors.ts'
import type { Signal } from '../signals.ts'
import { areAnsweredAlike } from './exchange.ts'

/** Takes the result or the error of work, once. */
export interface Landing<T> {
  landed(answer: T): void
  failed(error: Error): void
}

/** Passes the result of a promise on. */
export function tell<T>(promised: Promise<T>, landing: Landing<T>): void {
  promised.then(
    (answer) => landing.landed(answer),
    (error) => landing.failed(error),
  )
}

/** Work in flight. */
export interface Underway {
  /** Cancels the work: the landing gets this reason. Without effect once the work has ended. */
  cancel(reason: Error): void
}

/** Starts work; the landing takes its result. */
export type Start<T> = (landing: Landing<T>) => Underway

/**
 * Resolves with the result of work. When the signal fires, the work is cancelled for its reason.
 * After the signal has fired, the work is not started.
 */
export function waitFor<T>(signal: Signal, start: Start<T>): Promise<T> {
  return new Promise((landed, failed) => new Passenger({ landed, failed }, signal).wait(start))
}

/** Waits until the work lands or the signal fires. This class and the next are classes because every call has one of each. */
export class Passenger<T> implements Landing<T> {
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

/**
 * The parts that make work identical. Comparing parts is faster than building one text.
 * `headers` are the client's: v2 gets some of them and may answer by them. Requests with other headers therefore get answers of their own.
 */
export interface FlightKey {
  readonly who: string
  readonly what: string
  readonly headers: IncomingHttpHeaders
}

/** The passengers of a landed flight: no further one can join. */
const NOBODY: never[] = []

/** Work in flight and its passengers. */
export class Flight<T> implements Landing<T> {
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

  /** Removes one passenger for this reason; the last one cancels the flight. */
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

export interface Flights<T> {
  find(key: FlightKey): Flight<T> | undefined
  add(flight: Flight<T>): void
  remove(flight: Flight<T>): void
}

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
