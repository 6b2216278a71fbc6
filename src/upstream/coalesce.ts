import type { Cancel, Landing } from './exchange.ts'
import type { Signal } from './signal.ts'

/** Begins work; whoever waits for it is told what became of it. */
export type Start<T> = (landing: Landing<T>) => Cancel

interface Flight<T> {
  readonly key: string
  readonly passengers: Landing<T>[]
  cancel: Cancel
}

/** Joins identical work that is under way. */
export interface Coalescer<T> {
  /** Starts the work, or waits for the flight with the same key. The work is cancelled when nobody waits for it any more. */
  join(key: string, signal: Signal, start: Start<T>): Promise<T>
}

const nothing: Cancel = () => {}

export function createCoalescer<T>(): Coalescer<T> {
  const flights = createFlights<T>()
  const takeOff = (key: string, first: Landing<T>, start: Start<T>): Flight<T> => {
    const flight: Flight<T> = { key, passengers: [first], cancel: nothing }
    const land = () => {
      flights.remove(flight)
      flight.cancel = nothing
      return flight.passengers.splice(0)
    }
    flights.add(flight)
    const cancel = start({
      landed: (answer) => {
        for (const passenger of land()) passenger.landed(answer)
      },
      failed: (error) => {
        for (const passenger of land()) passenger.failed(error)
      },
    })
    if (flight.passengers.length > 0) flight.cancel = cancel
    return flight
  }
  const board = (key: string, landing: Landing<T>, start: Start<T>): Flight<T> => {
    const flight = flights.find(key)
    flight?.passengers.push(landing)
    return flight ?? takeOff(key, landing, start)
  }
  return {
    join: (key, signal, start) =>
      waitFor(signal, (landing) => {
        const flight = board(key, landing, start)
        return (reason) => {
          const at = flight.passengers.indexOf(landing)
          if (at < 0) return
          flight.passengers.splice(at, 1)
          landing.failed(reason)
          if (flight.passengers.length > 0) return
          flights.remove(flight)
          flight.cancel(reason)
        }
      }),
  }
}

const BUCKETS = 256

/** Characters at the end of a key that choose its bucket. */
const HASHED = 5

/**
 * Flights by key. Every call takes off and lands, and a `Map` that changes so often is a burden: each time its table is made anew, the old
 * one is collected late, and until then everything lives on that it held. These buckets stay the same.
 */
function createFlights<T>() {
  const buckets = Array.from({ length: BUCKETS }, (): Flight<T>[] => [])
  // What keys differ in stands at their end: a uid, a window of a list.
  const bucketOf = (key: string) => {
    let sum = 0
    for (let at = Math.max(0, key.length - HASHED); at < key.length; at += 1) sum = 31 * sum + key.charCodeAt(at)
    return buckets[sum % BUCKETS] ?? []
  }
  return {
    find: (key: string) => bucketOf(key).find((flight) => flight.key === key),
    add: (flight: Flight<T>) => void bucketOf(flight.key).push(flight),
    remove(flight: Flight<T>) {
      const bucket = bucketOf(flight.key)
      const at = bucket.indexOf(flight)
      if (at >= 0) bucket.splice(at, 1)
    },
  }
}

/** The result of work that is given up, for the signal's reason, as soon as the signal fires. It is not begun when that has fired already. */
export function waitFor<T>(signal: Signal, start: Start<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    let cancel = nothing
    const give = () => cancel(signal.reason as Error)
    signal.addEventListener('abort', give)
    const over = () => signal.removeEventListener('abort', give)
    cancel = start({
      landed(answer) {
        over()
        resolve(answer)
      },
      failed(error) {
        over()
        reject(error)
      },
    })
  })
}
