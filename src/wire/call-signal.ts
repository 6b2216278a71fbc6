import { ApiError } from '../errors.ts'
import type { Deadline, Deadlines } from '../serve/listen/times.ts'
import { type Closing, Firing, type OnClose, type Signal, whenClosed } from '../serve/signals.ts'

/** What ends the work of a call. It fires with an ApiError. */
export interface CallTimes extends Signal {
  /**
   * Returns what fires for the client alone. From then on the time of `deadlines` ends the work, but not the call: the handler may still
   * answer, and the client waits for that.
   */
  client(): Signal
}

/**
 * Fires when the client goes away (CANCELLED), and when the time of the client or of `deadlines` is over (DEADLINE_EXCEEDED).
 * It is a class because every call has one.
 */
export class CallSignal extends Firing implements CallTimes, Deadline, OnClose {
  next: OnClose | undefined
  due: number
  older: Deadline | undefined
  newer: Deadline | undefined
  #isAnswered: boolean
  /** Why the client waits no more. */
  #left: Error | undefined
  #client: Firing | undefined
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
    this.#left = undefined
    this.#client = undefined
    this.#deadlines = deadlines
    this.#timer = timeoutMs === undefined || timeoutMs > LONGEST ? undefined : setTimeout(() => this.#leave(TOO_LATE), timeoutMs).unref()
    if (timeoutMs !== undefined && timeoutMs <= 0) this.#leave(TOO_LATE)
    deadlines?.watch(this)
    whenClosed(ending, this)
  }

  client(): Signal {
    if (this.#client) return this.#client
    this.#client = new Firing()
    if (this.#left) this.#client.abort(this.#left)
    return this.#client
  }

  /** True if the call is over, unless it has its answer: nobody waits for one, or the handler may not answer so late. */
  isOver(): boolean {
    return this.aborted && (this.#left !== undefined || this.#client === undefined)
  }

  late(): void {
    const allowed = `limits.deadlineMs (${this.#deadlines?.ms})`
    if (!this.#isAnswered) this.abort(new ApiError('DEADLINE_EXCEEDED', `the call took longer than ${allowed} allows`))
  }

  over(): void {
    this.#leave(GONE)
    this.answered()
  }

  #leave(because: { readonly code: 'CANCELLED' | 'DEADLINE_EXCEEDED'; readonly message: string }): void {
    if (this.#isAnswered || this.#left) return
    this.#left = new ApiError(because.code, because.message)
    this.#client?.abort(this.#left)
    this.abort(this.#left)
  }

  /** The call has its answer, so nothing fires any more. */
  answered(): void {
    this.#isAnswered = true
    this.forget()
    this.#client?.forget()
    this.#deadlines?.forget(this)
    clearTimeout(this.#timer)
  }
}

const GONE = { code: 'CANCELLED', message: 'the client went away' } as const
const TOO_LATE = { code: 'DEADLINE_EXCEEDED', message: 'the deadline of the call has passed' } as const

/** The most milliseconds that Node's timers can wait. */
const LONGEST = 2 ** 31 - 1
