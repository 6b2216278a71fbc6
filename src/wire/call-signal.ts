import { ApiError } from '../errors/api-error.ts'
import { Firing } from '../limits/signal.ts'
import { type Closing, type OnClose, whenClosed } from '../listen/on-close.ts'
import type { Deadline, Deadlines } from '../listen/times/deadlines.ts'

/**
 * Fires when the client goes away (CANCELLED), and when the time of the client or of `deadlines` is over (DEADLINE_EXCEEDED).
 * It is a class because every call has one.
 */
export class CallSignal extends Firing implements Deadline, OnClose {
  next: OnClose | undefined
  due: number
  older: Deadline | undefined
  newer: Deadline | undefined
  #isAnswered: boolean
  readonly #timer: NodeJS.Timeout | undefined
  readonly #deadlines: Deadlines | undefined

  /** `ending` is the stream or the answer of the call; `timeoutMs` the time that the client gave. */
  constructor(ending: Closing, deadlines: Deadlines | undefined, timeoutMs: number | undefined) {
    super()
    this.next = undefined
    this.due = 0
    this.older = undefined
    this.newer = undefined
    this.#isAnswered = false
    this.#deadlines = deadlines
    this.#timer = timeoutMs === undefined || timeoutMs > LONGEST ? undefined : setTimeout(() => this.late(), timeoutMs).unref()
    if (timeoutMs !== undefined && timeoutMs <= 0) this.late()
    deadlines?.watch(this)
    whenClosed(ending, this)
  }

  late(): void {
    if (!this.#isAnswered) this.abort(new ApiError('DEADLINE_EXCEEDED', 'the deadline of the call has passed'))
  }

  over(): void {
    if (!this.#isAnswered) this.abort(new ApiError('CANCELLED', 'the client went away'))
    this.answered()
  }

  /** The call has its answer, so nothing fires any more. */
  answered(): void {
    this.#isAnswered = true
    this.#deadlines?.forget(this)
    clearTimeout(this.#timer)
  }
}

/** The most milliseconds that Node's timers can wait. */
const LONGEST = 2 ** 31 - 1
