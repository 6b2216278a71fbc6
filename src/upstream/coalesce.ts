interface Flight<T> {
  readonly promise: Promise<T>
  readonly abort: AbortController
  waiting: number
}

/** Joins identical work that is under way. */
export interface Coalescer<T> {
  /** Starts `work`, or waits for the flight with the same key. The work is aborted when nobody waits for it any more. */
  join(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

export function createCoalescer<T>(): Coalescer<T> {
  const flights = new Map<string, Flight<T>>()

  const takeOff = (key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> => {
    const abort = new AbortController()
    const forget = () => {
      if (flights.get(key) === flight) flights.delete(key)
    }
    const promise = work(abort.signal).finally(forget)
    promise.catch(() => {})
    const flight: Flight<T> = { promise, abort, waiting: 0 }
    flights.set(key, flight)
    abort.signal.addEventListener('abort', forget)
    return flight
  }

  return {
    async join(key, signal, work) {
      signal.throwIfAborted()
      const flight = flights.get(key) ?? takeOff(key, work)
      flight.waiting += 1
      try {
        return await orAborted(flight.promise, signal)
      } finally {
        flight.waiting -= 1
        if (flight.waiting === 0) flight.abort.abort()
      }
    },
  }
}

/** The promise, or the signal's reason as soon as it fires. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason)
    signal.addEventListener('abort', give, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', give))
  })
}
