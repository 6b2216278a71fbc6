import type { Signal } from '../../signal.ts'
import { Flight, type FlightKey } from './flight.ts'
import { createFlights } from './flights.ts'
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
