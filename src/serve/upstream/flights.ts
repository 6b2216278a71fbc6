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
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(fromTransport(signal.reason))
    let work: Underway | undefined
    const cancel = () => work?.cancel(signal.reason as Error)
    signal.addEventListener('abort', cancel)
    work = start({
      landed(answer) {
        signal.removeEventListener('abort', cancel)
        resolve(answer)
      },
      failed(error) {
        signal.removeEventListener('abort', cancel)
        reject(error)
      },
    })
  })
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

/** One who waits for shared work until that lands, or the signal fires. */
export interface Passenger<T> extends Landing<T> {
  readonly signal: Signal
  flight: Flight<T> | undefined
  /** Starts the work if no other passenger has. */
  start(landing: Landing<T>): Underway
  /** The signal has fired: leaves the flight. */
  handleEvent(): void
}

/** The passengers of a landed flight: no further one can join. */
const NOBODY: never[] = []

/** Work in flight and its passengers. */
class Flight<T> implements Landing<T> {
  readonly key: FlightKey
  readonly turn: number
  passengers: Passenger<T>[]
  work: Underway | undefined
  /** The flights among which it is found. */
  readonly #bucket: Flight<T>[]

  constructor(key: FlightKey, turn: number, bucket: Flight<T>[], first: Passenger<T>) {
    this.key = key
    this.turn = turn
    this.passengers = [first]
    this.work = undefined
    this.#bucket = bucket
    bucket.push(this)
  }

  landed(answer: T): void {
    for (const passenger of this.#over()) passenger.landed(answer)
  }

  failed(error: Error): void {
    for (const passenger of this.#over()) passenger.failed(error)
  }

  /** Removes one passenger for this reason; the last one cancels the flight. */
  leave(passenger: Passenger<T>, reason: Error): void {
    const at = this.passengers.indexOf(passenger)
    if (at < 0) return
    this.passengers.splice(at, 1)
    passenger.failed(reason)
    if (this.passengers.length > 0) return
    this.forget()
    this.work?.cancel(reason)
  }

  /** Nobody finds it any more. */
  forget(): void {
    const bucket = this.#bucket
    const at = bucket.indexOf(this)
    const last = at >= 0 ? bucket.pop() : undefined
    if (last && last !== this) bucket[at] = last
  }

  #over(): readonly Passenger<T>[] {
    const { passengers } = this
    this.forget()
    this.passengers = NOBODY
    this.work = undefined
    return passengers
  }
}

const BUCKETS = 256

/** The characters at the end of both texts that select the bucket. Keys differ there: in a uid or a window of a list. */
const HASHED = 5

/**
 * Joins identical work in flight. A request joins a flight only if the flight began after the request had arrived.
 * Then its caller cannot know of a write that the flight missed, even through another process.
 * Turns of the event loop prove that order without a guess: all requests of one turn had arrived before the first of them was examined.
 *
 * Every call adds and removes a flight. A `Map` that changes so often rebuilds its table repeatedly. The old table is collected late and
 * retains what it held. These buckets stay the same.
 */
export class Coalescer<T> {
  /** Returns the number of the current turn of the event loop. */
  readonly turn: () => number
  readonly #buckets = Array.from({ length: BUCKETS }, (): Flight<T>[] => [])

  constructor(turn: () => number = turnOfLoop) {
    this.turn = turn
  }

  /** Starts the work, or joins a flight with the same key that began in turn `since` or later. A flight without passengers is cancelled. */
  join(key: FlightKey, since: number, passenger: Passenger<T>): void {
    const { signal } = passenger
    if (signal.aborted) {
      passenger.failed(fromTransport(signal.reason))
      return
    }
    signal.addEventListener('abort', passenger)
    const bucket = this.#buckets[hash(key.who, hash(key.what, 0)) % BUCKETS] as Flight<T>[]
    let known: Flight<T> | undefined
    for (const flight of bucket) {
      const { what, who, headers } = flight.key
      if (what === key.what && who === key.who && areAnsweredAlike(headers, key.headers)) known = flight
    }
    if (known && known.turn >= since) {
      known.passengers.push(passenger)
      passenger.flight = known
      return
    }
    known?.forget()
    const flight = new Flight(key, this.turn(), bucket, passenger)
    passenger.flight = flight
    const work = passenger.start(flight)
    if (flight.passengers.length > 0) flight.work = work
  }
}

function turnOfLoop(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount
}

function hash(text: string, seed: number): number {
  let sum = seed
  for (let at = Math.max(0, text.length - HASHED); at < text.length; at += 1) sum = (31 * sum + text.charCodeAt(at)) | 0
  return sum >>> 0
}
