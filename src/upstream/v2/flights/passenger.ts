import { fromTransport } from '../../../errors.ts'
import type { Signal } from '../../../limits/signal.ts'
import type { Landing, Underway } from './landing.ts'

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
