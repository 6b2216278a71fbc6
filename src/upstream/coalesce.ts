import type { Underway } from './exchange.ts'
import type { Signal } from './signal.ts'

interface Flight<T> {
  readonly key: string
  readonly work: Underway<T>
  waiting: number
}

/** Joins identical work that is under way. */
export interface Coalescer<T> {
  /** Starts `work`, or waits for the flight with the same key. The work is cancelled when nobody waits for it any more. */
  join(key: string, signal: Signal, work: () => Underway<T>): Promise<T>
}

export function createCoalescer<T>(): Coalescer<T> {
  const flights = new Map<string, Flight<T>>()
  const forget = (flight: Flight<T>) => {
    if (flights.get(flight.key) === flight) flights.delete(flight.key)
  }
  const takeOff = (key: string, work: () => Underway<T>): Flight<T> => {
    const flight = { key, work: work(), waiting: 0 }
    flights.set(key, flight)
    const land = () => forget(flight)
    flight.work.done.then(land, land)
    return flight
  }
  return {
    join(key, signal, work) {
      if (signal.aborted) return Promise.reject(signal.reason)
      const flight = flights.get(key) ?? takeOff(key, work)
      flight.waiting += 1
      return landed(flight, signal, forget)
    },
  }
}

/** The result of the flight, or the signal's reason as soon as it fires; the last passenger to leave takes the flight down. */
function landed<T>(flight: Flight<T>, signal: Signal, forget: (flight: Flight<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      reject(signal.reason)
      flight.waiting -= 1
      if (flight.waiting > 0) return
      forget(flight)
      flight.work.cancel(signal.reason as Error)
    }
    signal.addEventListener('abort', leave)
    void flight.work.done.then(resolve, reject).then(() => signal.removeEventListener('abort', leave))
  })
}
