import type { Underway } from './exchange.ts'

interface Flight<T> extends Underway<T> {
  waiting: number
}

/** Joins identical work that is under way. */
export interface Coalescer<T> {
  /** Starts `work`, or waits for the flight with the same key. The work is cancelled when nobody waits for it any more. */
  join(key: string, signal: AbortSignal, work: () => Underway<T>): Promise<T>
}

export function createCoalescer<T>(): Coalescer<T> {
  const flights = new Map<string, Flight<T>>()

  const takeOff = (key: string, work: () => Underway<T>): Flight<T> => {
    const flight = { ...work(), waiting: 0 }
    flights.set(key, flight)
    return flight
  }

  return {
    join(key, signal, work) {
      if (signal.aborted) return Promise.reject(signal.reason)
      const flight = flights.get(key) ?? takeOff(key, work)
      const forget = () => {
        if (flights.get(key) === flight) flights.delete(key)
      }
      flight.waiting += 1
      return new Promise<T>((resolve, reject) => {
        const leave = () => {
          flight.waiting -= 1
          if (flight.waiting === 0) {
            forget()
            flight.cancel(signal.reason)
          }
          reject(signal.reason)
        }
        const land = () => {
          forget()
          signal.removeEventListener('abort', leave)
        }
        signal.addEventListener('abort', leave)
        flight.done.then(
          (value) => {
            land()
            resolve(value)
          },
          (error) => {
            land()
            reject(error)
          },
        )
      })
    },
  }
}
