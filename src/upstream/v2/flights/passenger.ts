import { fromTransport } from '../../../errors/from-v2.ts'
import type { Signal } from '../../signal.ts'
import type { Landing, Underway } from './landing.ts'

/** Begins work; whoever waits for it is told what became of it. */
export type Start<T> = (landing: Landing<T>) => Underway

/** The result of work that is given up, for the signal's reason, as soon as the signal fires. It is not begun when that has fired already. */
export function waitFor<T>(signal: Signal, start: Start<T>): Promise<T> {
  return new Promise((landed, failed) => new Passenger({ landed, failed }, signal).wait(start))
}

/** Waits until the work has landed or the signal fires. A class, as the next one: there is one of each for every call. */
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
