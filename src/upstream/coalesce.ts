import type { Underway } from './exchange.ts'
import type { Signal } from './signal.ts'

/**
 * Every call comes through here, and the tables of a Map or Set that changes so often are collected late, with everything that they held.
 * So whoever has landed lets go of the answer.
 */
interface Flight<T> {
  readonly key: string
  /** Undefined once it has landed. */
  work: Underway<T> | undefined
  waiting: number
}

/** Joins identical work that is under way. */
export interface Coalescer<T> {
  /** Starts `work`, or waits for the flight with the same key. The work is cancelled when nobody waits for it any more. */
  join(key: string, signal: Signal, work: () => Underway<T>): Promise<T>
}

export function createCoalescer<T>(): Coalescer<T> {
  const flights = new Map<string, Flight<T>>()
  const end = (flight: Flight<T>) => {
    if (flights.get(flight.key) === flight) flights.delete(flight.key)
    flight.work = undefined
  }
  const takeOff = (key: string, underway: Underway<T>): Flight<T> => {
    const flight: Flight<T> = { key, work: underway, waiting: 0 }
    flights.set(key, flight)
    const landed = () => end(flight)
    underway.done.then(landed, landed)
    return flight
  }
  return {
    join(key, signal, work) {
      if (signal.aborted) return Promise.reject(signal.reason)
      const flight = flights.get(key) ?? takeOff(key, work())
      return board(flight, flight.work ?? work(), signal, end)
    },
  }
}

/** The result of the flight, or the signal's reason as soon as it fires; the last passenger to leave takes the flight down. */
function board<T>(flight: Flight<T>, { done, cancel }: Underway<T>, signal: Signal, end: (flight: Flight<T>) => void): Promise<T> {
  flight.waiting += 1
  return new Promise((resolve, reject) => {
    let give: typeof reject | undefined = reject
    let down: typeof cancel | undefined = cancel
    const leave = () => {
      give?.(signal.reason)
      flight.waiting -= 1
      if (flight.waiting > 0) return
      end(flight)
      down?.(signal.reason as Error)
    }
    const landed = () => {
      signal.removeEventListener('abort', leave)
      give = undefined
      down = undefined
    }
    signal.addEventListener('abort', leave)
    void done.then(resolve, reject).then(landed)
  })
}
