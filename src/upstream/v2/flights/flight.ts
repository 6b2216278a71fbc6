import type { IncomingHttpHeaders } from 'node:http'
import type { Landing, Underway } from './landing.ts'
import type { Start } from './passenger.ts'

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
