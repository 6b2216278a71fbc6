import type { IncomingHttpHeaders } from 'node:http'
import { performance } from 'node:perf_hooks'
import { fromTransport } from '../../errors.ts'
import type { Signal } from '../signals.ts'
import { areAnsweredAlike } from './exchange.ts'

/** Takes the result or the error of work, once. */
export interface Receiver<T> {
  received(answer: T): void
  failed(error: Error): void
}

/** Passes the result of a promise on. */
export function deliver<T>(promised: Promise<T>, receiver: Receiver<T>): void {
  promised.then(
    (answer) => receiver.received(answer),
    (error) => receiver.failed(error),
  )
}

/** Work in flight. */
export interface Underway {
  /** Cancels the work: the receiver gets this reason. Without effect once the work has ended. */
  cancel(reason: Error): void
}

/** Starts work; the receiver takes its result. */
export type Start<T> = (receiver: Receiver<T>) => Underway

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
      received(answer) {
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
interface SharedReadKey {
  readonly who: string
  readonly what: string
  readonly headers: IncomingHttpHeaders
}

/** One who waits for shared work until that ends, or the signal fires. */
export interface Reader<T> extends Receiver<T> {
  readonly signal: Signal
  shared: SharedRead<T> | undefined
  /** Starts the work if no other reader has. */
  start(receiver: Receiver<T>): Underway
  /** The signal has fired: leaves the shared read. */
  handleEvent(): void
}

/** The readers of a shared read that is over: no further one can join. */
const NOBODY: never[] = []

/** Work in flight and its readers. */
class SharedRead<T> implements Receiver<T> {
  readonly key: SharedReadKey
  readonly turn: number
  readers: Reader<T>[]
  work: Underway | undefined
  /** The shared reads among which it is found. */
  readonly #bucket: SharedRead<T>[]

  constructor(key: SharedReadKey, turn: number, bucket: SharedRead<T>[], first: Reader<T>) {
    this.key = key
    this.turn = turn
    this.readers = [first]
    this.work = undefined
    this.#bucket = bucket
    bucket.push(this)
  }

  received(answer: T): void {
    for (const reader of this.#over()) reader.received(answer)
  }

  failed(error: Error): void {
    for (const reader of this.#over()) reader.failed(error)
  }

  /** Removes one reader for this reason; the last one cancels the shared read. */
  leave(reader: Reader<T>, reason: Error): void {
    const at = this.readers.indexOf(reader)
    if (at < 0) return
    this.readers.splice(at, 1)
    reader.failed(reason)
    if (this.readers.length > 0) return
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

  #over(): readonly Reader<T>[] {
    const { readers } = this
    this.forget()
    this.readers = NOBODY
    this.work = undefined
    return readers
  }
}

const BUCKETS = 256

/** The characters at the end of both texts that select the bucket. Keys differ there: in a uid or a window of a list. */
const HASHED = 5

/**
 * Joins identical work in flight. A request joins a shared read only if that began after the request had arrived.
 * Then its caller cannot know of a write that the shared read missed, even through another process.
 * Turns of the event loop prove that order without a guess: all requests of one turn had arrived before the first of them was examined.
 *
 * Every call adds and removes a shared read. A `Map` that changes so often rebuilds its table repeatedly. The old table is collected late and
 * retains what it held. These buckets stay the same.
 */
export class Coalescer<T> {
  /** Returns the number of the current turn of the event loop. */
  readonly turn: () => number
  readonly #buckets = Array.from({ length: BUCKETS }, (): SharedRead<T>[] => [])

  constructor(turn: () => number = turnOfLoop) {
    this.turn = turn
  }

  /** Starts the work, or joins a shared read with the same key that began in turn `since` or later. One without readers is cancelled. */
  join(key: SharedReadKey, since: number, reader: Reader<T>): void {
    const { signal } = reader
    if (signal.aborted) {
      reader.failed(fromTransport(signal.reason))
      return
    }
    signal.addEventListener('abort', reader)
    const bucket = this.#buckets[hash(key.who, hash(key.what, 0)) % BUCKETS] as SharedRead<T>[]
    let known: SharedRead<T> | undefined
    for (const shared of bucket) {
      const { what, who, headers } = shared.key
      if (what === key.what && who === key.who && areAnsweredAlike(headers, key.headers)) known = shared
    }
    if (known && known.turn >= since) {
      known.readers.push(reader)
      reader.shared = known
      return
    }
    known?.forget()
    const shared = new SharedRead(key, this.turn(), bucket, reader)
    reader.shared = shared
    const work = reader.start(shared)
    if (shared.readers.length > 0) shared.work = work
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
